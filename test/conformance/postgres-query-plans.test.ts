/** Searches that must not scan a table on PostgreSQL. */
import type { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assembleMigrations, bindParameters, queryFiles } from "../../scripts/sql/files.ts";
import { describeQueries } from "../../scripts/sql/headers.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";

const { queries } = describeQueries("postgres", queryFiles("postgres"));
/** So many rows that a scan of the table would be the worse plan. */
const ROWS = 20_000;

let server: PostgresServer;
let client: Client;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
  client = await connect(server.url);
  await client.query("CREATE SCHEMA millrace");
  for (const { sql } of assembleMigrations("postgres")) await client.query(sql);
  await client.query(FILL);
});
afterAll(async () => {
  await client.end();
  await server[Symbol.asyncDispose]();
});

const FILL = `
  INSERT INTO millrace.job
      (run_at, created_at, id, type, tenant, lane, priority, max_attempts, flags)
  SELECT now(), now(), gen_random_uuid(), 1, 1, 1, 1, 1, 0 FROM generate_series(1, ${ROWS});
  INSERT INTO millrace.alias (id, job, parent)
  SELECT gen_random_uuid(), n, n FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO millrace.dead_letter (id, died_at, type, tenant, attempts, status, error, spec)
  SELECT gen_random_uuid(), now(), 1, 1, 1, 1, '{}', '{}' FROM generate_series(1, ${ROWS});
  ANALYZE`;

test("ids_between reads ranges of indexes", async () => {
  const from = "01234567-0000-7000-8000-000000000000";
  const steps = await planOf("ids_between", [`'${from}'`, `'${from}'`, "10"]);

  const conditions = steps.filter((step) => /Index Cond: .*id >= .*id <= /.test(step));
  expect(conditions).toHaveLength(3);
  expect(steps.filter((step) => step.includes("Seq Scan"))).toEqual([]);
});

/** The plan that serves any parameters, as the store uses it. */
async function planOf(name: string, values: readonly string[]): Promise<string[]> {
  const { text } = queries.find((query) => query.name === name) ?? { text: "" };
  await client.query("SET plan_cache_mode = force_generic_plan");
  await client.query(`PREPARE ${name} AS ${bindParameters(text, "postgres").text}`);
  const { rows } = await client.query<{ "QUERY PLAN": string }>(
    `EXPLAIN EXECUTE ${name} (${values.join()})`,
  );
  return rows.map((row) => row["QUERY PLAN"]);
}
