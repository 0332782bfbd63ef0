/**
 * Settings that the application changes on the connections of its own pool, after the store has
 * used them: no write of the store obeys them.
 */
import { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import type { PgPool } from "../../../src/store/postgres/index.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { completed } from "../../support/factories.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { add, settleAll, take } from "../../support/steps.ts";

const LANE = { kind: "lane", name: "mail" } as const;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

/** The setting, its value, and the setting of the transaction. */
const SETTINGS = [
  ["synchronous_commit", "off", "synchronous_commit"],
  ["default_transaction_isolation", "serializable", "transaction_isolation"],
] as const;

const POOLS: readonly (readonly [string, (pool: Pool) => PgPool])[] = [
  ["a pool", (pool) => pool],
  ["a pool that does not tell who uses it", (pool) => silent(pool)],
];

const CASES = SETTINGS.flatMap(([name, value, checked]) =>
  POOLS.map(([kind, wrap]) => ({ name, value, checked, kind, wrap })),
);

test.each(CASES)("$name = $value is noticed on $kind", async ({ name, value, checked, wrap }) => {
  // One connection, so that the store and the application share it.
  const pool = new Pool({ connectionString: server.url, max: 1 });
  pool.on("error", () => {});
  const schema = `${name}_${wrap(pool) === pool ? "shown" : "hidden"}`;
  const store = makePostgresStore({ pool: wrap(pool), schema });
  await store.open();
  await write(store);
  await refuseWrites(pool, schema, [checked, value]);

  const client = await pool.connect();
  await client.query(`SET ${name} = '${value}'`);
  const refused = client.query(`DELETE FROM ${schema}.gate`);
  await expect(refused).rejects.toThrow(`${checked} is ${value}`);
  client.release();

  await write(store);
  await store.close();
  const { rows } = await pool.query(`SHOW ${name}`);
  expect(rows).toEqual([{ [name]: value }]);
  await pool.end();
});

/** A verb of one statement, those of the hot path, and one of a transaction. */
async function write(store: JobStore): Promise<void> {
  await store.pause(LANE, { reason: "repair", by: null });
  await store.resume(LANE);
  await add(store, {});
  await settleAll(store, await take(store), completed());
}

/** The server refuses writes that obey the setting. */
async function refuseWrites(
  pool: Pool,
  schema: string,
  [name, value]: readonly [string, string],
): Promise<void> {
  await pool.query(`
    CREATE FUNCTION ${schema}.insist() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('${name}') = '${value}' THEN
        RAISE EXCEPTION '${name} is ${value}';
      END IF;
      RETURN NULL;
    END $$`);
  for (const table of ["gate", "job", "ready", "lease", "attempt"]) {
    await pool.query(`CREATE TRIGGER insist AFTER INSERT OR UPDATE OR DELETE
      ON ${schema}.${table} FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.insist()`);
  }
}

/** A pool of another library, without events. */
function silent(pool: Pool): PgPool {
  return { connect: () => pool.connect(), end: () => pool.end(), on() {}, off() {} };
}
