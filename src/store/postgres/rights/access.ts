/**
 * Whether an installation has the routines of this release, for a user who may call nothing else.
 * Such a user changes nothing in the schema: what needs its owner is refused here.
 */
import { MillraceError } from "../../../core/errors.ts";
import { newestOf, requireProtocol, type Migration } from "../../shared/migrations.ts";
import { send, type PgClient } from "../database/pool.ts";
import type { Session } from "../database/session.ts";
import { callOf, inSchema } from "../database/statements.ts";
import { routinesDigest } from "./routines.ts";

/** What the installation says about itself, by its routine. */
async function installationOf(
  client: PgClient,
  schema: string,
): Promise<ReadonlyMap<string, string>> {
  const text = inSchema(callOf("installation") ?? "", schema);
  const { rows } = await send(client, { text });
  return new Map(rows.map(({ name, value }) => [name, value]));
}

export interface Release {
  readonly schema: string;
  readonly migrations: readonly Migration[];
  readonly tell: (warning: string) => void;
}

/** Refuses an installation that a member of another role has to migrate first. */
export async function requireRoutines(client: PgClient, release: Release): Promise<void> {
  const { schema, migrations, tell } = release;
  const installed = await installationOf(client, schema);
  requireProtocol(Number(installed.get("min_protocol")));
  const [found, known] = [Number(installed.get("schema")), newestOf(migrations)];
  if (found < known) {
    throw outdated(schema, `has schema version ${found}, and this release needs ${known}`);
  }
  if (installed.get("routines") === routinesDigest()) return;
  if (found === known) throw outdated(schema, "has the routines of another release");
  tell(
    `a newer release of Millrace has migrated the database (schema version ${found}, known here ` +
      `up to ${known}): this one works as far as the routines are the same, and should be upgraded`,
  );
}

function outdated(schema: string, why: string): MillraceError {
  return new MillraceError(
    "STORE_OLDER",
    `the schema ${schema} ${why}: run "millrace migrate" as a member of ${schema}_migrator; ` +
      `this user, a member of ${schema}_engine, may not`,
    { details: { schema } },
  );
}

/** Refuses a command that changes the schema. */
export function requireOwner(
  { access, schema }: Pick<Session, "access" | "schema">,
  command: string,
): void {
  if (access === "routines") throw needsOwner(schema, command);
}

export function needsOwner(schema: string, command: string): MillraceError {
  return new MillraceError(
    "STORE_DENIED",
    `"${command}" needs the rights of the owner, and this user may only call the routines of the ` +
      `schema ${schema}: run it as a member of ${schema}_migrator`,
    { details: { schema, command } },
  );
}
