/**
 * Migrates the schema of an installation while workers run. A migration expands first: tables and
 * functions of older releases stay, so that their workers go on. A later migration removes them and
 * raises the least protocol that a worker must speak.
 *
 * One process migrates at a time, under a lock that ends with the transaction; other processes wait
 * and then find nothing to do. A role that may not create anything can open a schema that is up to
 * date, and so can one that may only call the routines.
 */
import { wait, type Dice } from "../../../core/clock.ts";
import { MillraceError } from "../../../core/errors.ts";
import { systemClock } from "../../../lib/system.ts";
import { newestOf, requireProtocol, type Migration } from "../../shared/migrations.ts";
import { settingWarnings } from "../doctor/server-settings.ts";
import { requireRoutines } from "../rights/access.ts";
import { refreshRoutines } from "../rights/install-routines.ts";
import { failureOf } from "./errors.ts";
import { send, type PgClient, type Pool } from "./pool.ts";
import { migrations as newest } from "./migrations.gen.ts";
import { BEGIN, inTransaction } from "./session.ts";
import { accessOf, inSchema, quoted, type SqlAccess } from "./statements.ts";

/** The oldest server that is tested. */
const SERVER_OLDEST = 15;
/** A migration of a large installation may take minutes. */
const MIGRATION_MS_MAX = 600_000;
/**
 * A statement that waits for the lock of a table blocks all statements after it, so a migration
 * waits only briefly, and then tries again.
 */
const LOCK_MS_MAX = 500;
const LOCK_REST_MS = 2_000;
/** The time limit of a role is meant for queries. A migration has its own. */
const BEGIN_MIGRATION = `${BEGIN}; SET LOCAL statement_timeout = 0`;
const LOCK_TRIES_MAX = 30;

export interface MigrateOptions {
  readonly pool: Pool;
  readonly schema: string;
  readonly migrations: readonly Migration[];
  readonly dice: Dice;
  /** False: the installation must exist. */
  readonly create: boolean;
  /** Gets warnings for operators. */
  readonly tell: (warning: string) => void;
}

/**
 * Checks the server, and migrates if necessary: each migration is one transaction. Answers what the
 * user of the pool may use. One that may only call routines migrates nothing.
 */
export async function migrate(options: MigrateOptions): Promise<SqlAccess> {
  const { pool, schema, migrations, create } = options;
  const access = await pool.withConnection(async (client) => {
    await checkServer(client, options.tell);
    const found = await accessOf(client, schema);
    if (found === "routines") await requireRoutines(client, options);
    return found;
  });
  if (access === "routines") return access;
  const versionNow = (): Promise<number> =>
    pool.withConnection((client) => schemaVersion(client, schema));
  let version = await versionNow();
  if (version === 0 && !create) {
    throw new MillraceError("STORE_MISSING", `there is no store in the schema ${schema}`);
  }
  await admit(options, version);
  while (version < newestOf(migrations)) {
    await patiently(options, () =>
      pool.withConnection((client) =>
        inTransaction(client, BEGIN_MIGRATION, () => applyNext(client, options)),
      ),
    );
    version = await versionNow();
  }
  return access;
}

/** Brings the routines to this release where no migration does: `millrace migrate` calls it. */
export async function migrateRoutines(
  options: Pick<MigrateOptions, "pool" | "schema" | "migrations">,
): Promise<void> {
  const { pool, schema, migrations } = options;
  await pool.withConnection((client) =>
    inTransaction(client, BEGIN_MIGRATION, async () => {
      await lockSchema(client, schema);
      if ((await schemaVersion(client, schema)) > newestOf(migrations)) return;
      await actAsOwner(client, schema);
      await refreshRoutines(client, schema);
    }),
  );
}

/** The migrations as scripts that an operator can run, one after the other, to the same effect. */
export function migrationScripts(schema = "millrace"): readonly Migration[] {
  return newest.map(({ version, name, sql }) => {
    const parts = [
      "BEGIN;",
      ...(version === 1 ? [`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)};`] : []),
      inSchema(sql, schema).trimEnd(),
      `${noteVersion(schema, version)};`,
      "COMMIT;",
    ];
    return { version, name, sql: `${parts.join("\n")}\n` };
  });
}

/** A release may use a newer schema as long as the schema accepts the protocol of the release. */
async function admit({ pool, schema, migrations, tell }: MigrateOptions, version: number) {
  if (version === 0) return;
  const text = inSchema("SELECT value FROM millrace.meta WHERE name = 'min_protocol'", schema);
  const { rows } = await pool.withConnection((client) => send(client, { text }));
  requireProtocol(Number(rows[0]?.value));
  if (version <= newestOf(migrations)) return;
  tell(
    `a newer release of Millrace has migrated the database (schema version ${version}, known ` +
      `here up to ${newestOf(migrations)}): this one still works, but should be upgraded`,
  );
}

/** Tries again while another transaction holds a lock that the migration needs. */
async function patiently({ dice, tell }: MigrateOptions, step: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await step();
      return;
    } catch (error) {
      const passes = ["locked", "conflict"].includes(failureOf(error));
      if (!passes || tries === LOCK_TRIES_MAX) throw error;
    }
    tell(
      "a migration waits for a transaction that uses its tables; the workers go on meanwhile; " +
        "millrace doctor names a transaction that lasts long",
    );
    await wait(systemClock, LOCK_REST_MS * (0.5 + dice.random()));
  }
}

async function applyNext(client: PgClient, { schema, migrations }: MigrateOptions): Promise<void> {
  await lockSchema(client, schema);
  await send(client, { text: `SET LOCAL lock_timeout = ${LOCK_MS_MAX}` });
  // Under the lock: another process may have migrated in between.
  const current = await schemaVersion(client, schema);
  const next = migrations.find(({ version }) => version > current);
  if (next === undefined) return;
  if (next.version === 1) await createSchema(client, schema);
  await actAsOwner(client, schema);
  await send(client, { text: inSchema(next.sql, schema), query_timeout: MIGRATION_MS_MAX });
  await send(client, { text: noteVersion(schema, next.version) });
  if (next.version === newestOf(migrations)) await refreshRoutines(client, schema);
}

/** One process migrates at a time; the lock ends with its transaction. */
async function lockSchema(client: PgClient, schema: string): Promise<void> {
  const text = "SELECT pg_advisory_xact_lock(hashtextextended('millrace migration ' || $1, 0))";
  await send(client, { text, values: [schema], query_timeout: MIGRATION_MS_MAX });
}

/** After `migrate --roles`, the objects belong to a role: new ones must belong to it as well. */
async function actAsOwner(client: PgClient, schema: string): Promise<void> {
  const text = `SELECT set_config('role', owner.rolname, true)
                FROM pg_namespace AS space
                JOIN pg_roles AS owner ON owner.oid = space.nspowner
                WHERE space.nspname = $1
                  AND owner.rolname = $1 || '_owner'
                  AND pg_has_role(current_user, owner.oid, 'MEMBER')`;
  await send(client, { text, values: [schema] });
}

function noteVersion(schema: string, version: number): string {
  return inSchema(
    `INSERT INTO millrace.meta (name, value) VALUES ('schema', '${version}')
ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    schema,
  );
}

/** Only if it is missing: a role that was given a schema need not be able to create one. */
async function createSchema(client: PgClient, schema: string): Promise<void> {
  const text = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
  const { rows } = await send(client, { text, values: [schema] });
  if (rows.length === 0) await send(client, { text: `CREATE SCHEMA ${quoted(schema)}` });
}

async function checkServer(client: PgClient, tell: MigrateOptions["tell"]): Promise<void> {
  const { rows } = await send(client, {
    text: `SELECT current_setting('server_version_num') AS number,
                  current_setting('server_version') AS version,
                  getdatabaseencoding() AS encoding,
                  current_setting('transaction_read_only') AS read_only,
                  current_setting('fsync')::boolean AS fsync,
                  current_setting('full_page_writes')::boolean AS full_page_writes`,
  });
  const { number, version, encoding, read_only: readOnly, ...disk } = rows[0];
  if (Number(number) < SERVER_OLDEST * 10_000) {
    const needed = `Millrace needs PostgreSQL ${SERVER_OLDEST} or newer`;
    throw new MillraceError("STORE_UNSUITABLE", `${needed}, and this is ${version}`);
  }
  if (encoding !== "UTF8") {
    const needed = "Millrace needs a database in UTF8";
    throw new MillraceError("STORE_UNSUITABLE", `${needed}, and this one is in ${encoding}`);
  }
  if (readOnly === "on") {
    const found =
      "the server is read-only: it is a standby, or default_transaction_read_only is on";
    throw new MillraceError("STORE_SERVER_READ_ONLY", found);
  }
  for (const warning of settingWarnings(disk)) tell(warning);
}

/** The schema version of the installation; 0 if there is none. */
async function schemaVersion(client: PgClient, schema: string): Promise<number> {
  const tables = await tablesOf(client, schema);
  if (!tables.includes("meta")) {
    if (tables.length === 0) return 0;
    throw new MillraceError(
      "STORE_SCHEMA_FOREIGN",
      `the schema ${schema} belongs to another application (it has a table ${tables[0]})`,
      { details: { schema, tables: tables.slice(0, 10) } },
    );
  }
  const text = inSchema("SELECT value FROM millrace.meta WHERE name = 'schema'", schema);
  const { rows } = await send(client, { text });
  const version = Number(rows[0]?.value ?? Number.NaN);
  if (Number.isSafeInteger(version)) return version;
  throw new MillraceError("STORE_CORRUPT", `the schema ${schema} has no readable version`);
}

async function tablesOf(client: PgClient, schema: string): Promise<string[]> {
  const text = `SELECT relname AS name FROM pg_class
                WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
                  AND relkind IN ('r', 'p', 'v', 'm', 'f')
                ORDER BY relname`;
  const { rows } = await send(client, { text, values: [schema] });
  return rows.map(({ name }) => name);
}
