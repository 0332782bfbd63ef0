/** Which migrations a database still needs. Shared by both stores; applying them is theirs. */
import { MillraceError } from "../core/errors.ts";

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
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest) {
    throw new MillraceError(
      "STORE_NEWER",
      `the database has schema version ${current}, this release of Millrace knows up to ${newest}`,
      { details: { found: current, known: newest } },
    );
  }
  return migrations.filter((migration) => migration.version > current);
}
