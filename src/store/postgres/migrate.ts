/**
 * Brings the schema of an installation up to date. One process does it at a time, under a lock that
 * ends with the transaction; the others wait and then find nothing to do. A role that may not
 * create anything can open a schema that is up to date.
 */
import { MillraceError } from "../../core/errors.ts";
import { pendingMigrations } from "../migrations.ts";
import { send, type PgClient, type Pool } from "./pool.ts";
import { migrations } from "./queries.gen.ts";
import { inSchema } from "./statements.ts";

/** The oldest server that is tested. */
const SERVER_OLDEST = 15;
/** A migration of a large installation may take its time. */
const MIGRATION_MS_MAX = 600_000;

/** Looks at the server, and migrates if need be. */
export async function migrate(pool: Pool, schema: string): Promise<void> {
  const current = await pool.lend(async (client) => {
    await checkServer(client);
    return schemaVersion(client, schema);
  });
  if (pendingMigrations(migrations, current).length === 0) return;
  await pool.lend(async (client) => {
    await send(client, { text: "BEGIN ISOLATION LEVEL READ COMMITTED" });
    try {
      await apply(client, schema);
    } catch (error) {
      await send(client, { text: "ROLLBACK" });
      throw error;
    }
    await send(client, { text: "COMMIT" });
  });
}

async function apply(client: PgClient, schema: string): Promise<void> {
  const text = "SELECT pg_advisory_xact_lock(hashtextextended('millrace migration ' || $1, 0))";
  await send(client, { text, values: [schema], query_timeout: MIGRATION_MS_MAX });
  // Under the lock: another process may have migrated in between.
  const pending = pendingMigrations(migrations, await schemaVersion(client, schema));
  for (const { version, sql } of pending) {
    if (version === 1) await createSchema(client, schema);
    await send(client, { text: inSchema(sql, schema), query_timeout: MIGRATION_MS_MAX });
    await send(client, {
      text: inSchema(
        `INSERT INTO millrace.meta (name, value) VALUES ('schema', $1)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
        schema,
      ),
      values: [String(version)],
    });
  }
}

/** Asked for only where it is missing: whoever was given a schema need not be able to make one. */
async function createSchema(client: PgClient, schema: string): Promise<void> {
  const text = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
  const { rows } = await send(client, { text, values: [schema] });
  if (rows.length === 0) await send(client, { text: `CREATE SCHEMA "${schema}"` });
}

async function checkServer(client: PgClient): Promise<void> {
  const { rows } = await send(client, {
    text: `SELECT current_setting('server_version_num') AS number,
                  current_setting('server_version') AS version,
                  getdatabaseencoding() AS encoding,
                  current_setting('transaction_read_only') AS read_only`,
  });
  const { number, version, encoding, read_only: readOnly } = rows[0];
  if (Number(number) < SERVER_OLDEST * 10_000) {
    const needed = `Millrace needs PostgreSQL ${SERVER_OLDEST} or newer`;
    throw new MillraceError("STORE_FAILED", `${needed}, and this is ${version}`);
  }
  if (encoding !== "UTF8") {
    throw new MillraceError("STORE_FAILED", `the database must be in UTF8, and it is ${encoding}`);
  }
  if (readOnly === "on") {
    throw new MillraceError("STORE_READ_ONLY", "the database is read-only: a standby, perhaps");
  }
}

/** The schema version of the installation; 0 when Millrace has not been here. */
async function schemaVersion(client: PgClient, schema: string): Promise<number> {
  const tables = await tablesOf(client, schema);
  if (!tables.includes("meta")) {
    if (tables.length === 0) return 0;
    throw new MillraceError(
      "STORE_FOREIGN",
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
