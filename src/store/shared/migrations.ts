/** Which migrations a database still needs. Each store applies them itself. */
import { MillraceError } from "../../core/errors.ts";
import { PROTOCOL } from "../store.ts";

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

/** The migrations after `current`, oldest first. A database from a newer release is refused. */
export function pendingMigrations(
  migrations: readonly Migration[],
  current: number,
): readonly Migration[] {
  if (current > newestOf(migrations)) throw newerError(migrations, current);
  return migrations.filter((migration) => migration.version > current);
}

export function newestOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

/** The database was migrated by a newer release, which this release cannot use. */
export function newerError(migrations: readonly Migration[], found: number): MillraceError {
  const known = newestOf(migrations);
  return new MillraceError(
    "STORE_NEWER",
    `the database has schema version ${found}, this release of Millrace knows up to ${known}`,
    { details: { found, known } },
  );
}

/** Refuses a store that no longer accepts the protocol of this release. */
export function requireProtocol(least: number): void {
  if (least <= PROTOCOL) return;
  throw new MillraceError(
    "STORE_NEWER",
    "a newer release of Millrace has migrated the database: " +
      `protocol ${least} is required, and this release speaks ${PROTOCOL}`,
    { details: { found: least, known: PROTOCOL } },
  );
}
