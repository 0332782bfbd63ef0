/** Searches that must not scan a table on PostgreSQL. */
import type { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assembleMigrations, bindParameters, queryFiles } from "../../scripts/sql/files.ts";
import { describeQueries } from "../../scripts/sql/headers.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";

const { queries } = describeQueries("postgres", queryFiles("postgres"));
/** So many rows that a scan of the table would be the worse plan. */
const ROWS = 20_000;
/** For ten units and the search of their job. All units of a job are on more than 200 blocks. */
const BLOCKS_MAX = 60;

let server: PostgresServer;
let client: Client;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
  client = await connect(server.url);
  await migrate(client);
  await client.query(FILL);
});
afterAll(async () => {
  await client.end();
  await server[Symbol.asyncDispose]();
});

async function migrate(empty: Client): Promise<void> {
  await empty.query("CREATE SCHEMA millrace");
  for (const { sql } of assembleMigrations("postgres")) await empty.query(sql);
}

const JOBS = `
  INSERT INTO millrace.job
      (run_at, created_at, id, type, tenant, lane, priority, max_attempts, flags)
  SELECT now(), now(), gen_random_uuid(), 1, 1, 1, 1, 1, 0 FROM generate_series(1, ${ROWS})`;
const FILL = `
  ${JOBS};
  INSERT INTO millrace.alias (id, job, parent)
  SELECT gen_random_uuid(), n, n FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO millrace.dead_letter (id, died_at, type, tenant, attempts, status, error, spec, cause)
  SELECT gen_random_uuid(), now(), 1, 1, 1, 1, '{}', '{}', '0123456789abcdef'
  FROM generate_series(1, ${ROWS});
  INSERT INTO millrace.ready (key, rank, lane, priority, type, tenant, n, tries, crashes)
  SELECT key, key, 1, 1, 1, 1, 1, 0, 0 FROM millrace.job;
  ANALYZE`;

test("ids_between reads ranges of indexes", async () => {
  const from = "01234567-0000-7000-8000-000000000000";
  const steps = await planOf("ids_between", [`'${from}'`, `'${from}'`, "10"]);

  const conditions = steps.filter((step) => /Index Cond: .*id >= .*id <= /.test(step));
  expect(conditions).toHaveLength(3);
  expect(steps.filter((step) => step.includes("Seq Scan"))).toEqual([]);
});

test("count_ahead reads the order of the claim up to the job, and crashed jobs apart", async () => {
  const from = "01234567-0000-7000-8000-000000000000";
  const steps = await planOf("count_ahead", [`'${from}'`, "NULL", "10", "NULL"]);

  const conditions = steps.filter((step) => /Index Cond: .*lane = own/.test(step));
  expect(conditions).toHaveLength(2);
  expect(conditions[0]).toContain("ROW(priority, rank, key) < ROW(");
  expect(steps.filter((step) => step.includes("Seq Scan on ready"))).toEqual([]);
});

test.each(["before", "after"])(
  "a page of units reads no other units, %s an ANALYZE",
  async (when) => {
    const table = `CREATE TABLE IF NOT EXISTS chosen AS
    SELECT key, id FROM millrace.job ORDER BY key LIMIT 1`;
    await client.query(table);
    await client.query(`
    INSERT INTO millrace.unit (key, at, n, turn, state, phase, unit)
    SELECT key, now(), 1, n, 0, 'build', 'unit-' || n
    FROM chosen CROSS JOIN generate_series(1, ${ROWS}) AS n
    ON CONFLICT DO NOTHING`);
    if (when === "after") await client.query("ANALYZE millrace.unit");
    const read = `SELECT * FROM millrace.list_units(
    (SELECT id FROM chosen), 'build', ${ROWS / 2}, 'x', 'build', NULL, 10)`;
    expect(await blocksOf(read, "list_units")).toBeLessThan(BLOCKS_MAX);
  },
);

test("a claim reads no jobs of other lanes in the queue of a limit", async () => {
  await client.query(`
    INSERT INTO millrace.blocked (key, rank, gate, lane, priority, type, tenant, n, tries, crashes)
    SELECT n, n, -3 - 7, CASE WHEN n < ${ROWS} THEN 2 ELSE 1 END, 1, 7, 1, 1, 0, 0
    FROM generate_series(1, ${ROWS}) AS n`);
  const read = `SELECT keys FROM millrace.find_limited(
    '{7}', '{5}', '{1}', NULL, NULL, '{}', '{}', false, 10, NULL, NULL, NULL)`;
  await client.query("SET enable_seqscan = off; SET enable_bitmapscan = off");
  const { rows: found } = await client.query(read);
  const blocks = await blocksOf(read, "find_limited");

  expect(found).toEqual([{ keys: [String(ROWS)] }]);
  expect(blocks).toBeLessThan(BLOCKS_MAX);
});

test("find_ends reads no other jobs, also if it was planned while there were few", async () => {
  await client.query("CREATE DATABASE few");
  const url = new URL(server.url);
  url.pathname = "/few";
  const own = await connect(url.href);
  await migrate(own);
  const read = "SELECT * FROM millrace.find_ends(ARRAY(SELECT id FROM millrace.job LIMIT 1))";
  await own.query(read);
  await own.query(JOBS);
  const blocks = await blocksOf(read, "find_ends", own);
  await own.end();

  expect(blocks).toBeLessThan(BLOCKS_MAX);
});

test("a claim does not look up the lock of each job in a long front of a taken key", async () => {
  await using own = await withTakenKey("taken", 50);
  // A claim of ten jobs that names no lanes, types, tenants or marks.
  const nulls = (count: number): string => Array(count).fill("NULL").join();
  const read = `SELECT * FROM millrace.claim_batch(
    '${WORKER}', '${"0".repeat(32)}', ${nulls(3)}, false, 10, ${nulls(12)})`;
  const claim = async (): Promise<number[]> => {
    await own.query("BEGIN");
    const { rows } = await own.query(read);
    await own.query("ROLLBACK");
    return rows.flatMap(({ id, key }) => (id === null ? [] : [Number(key)]));
  };

  // The same key of another tenant, another key, and no key.
  expect(await claim()).toEqual([1, 2, 3]);
  const blocks = await blocksOf(read, "claim_batch", own);

  // The front itself, by its index.
  expect(blocks).toBeLessThan(1.5 * FRONT);
});

test("hold_jobs looks up the locks of a limited number of keys, also in a long front", async () => {
  await using own = await withGatedJobs("front");

  await own.query("BEGIN");
  const { blocks } = await runOf("hold_jobs", ["NULL", "20000", "100", "1000"], own);

  // The front itself, by its index, and a look for each of 100 keys.
  expect(blocks).toBeLessThan(1_000);
});

test.each(["all_key_rates", "find_key_rate"])(
  "%s counts the jobs of a key by its index, where other keys have many",
  async (name) => {
    await using own = await emptyDatabase(name);
    await own.query(`
      INSERT INTO millrace.key_rate
          (refilled_at, set_at, rate_ms, tenant, rate_count, burst, name)
      SELECT now(), now(), 1000, 1, 1, 1, 'rated-' || n FROM generate_series(1, 100) AS n;
      INSERT INTO millrace.blocked
          (key, rank, gate, lane, priority, type, tenant, n, tries, crashes, concurrency)
      SELECT n, n, -1, 1, 1, 1, 1, 1, 0, 0, 'other-' || n % 2000
      FROM generate_series(1, ${ROWS}) AS n;
      ANALYZE`);
    const values = name === "all_key_rates" ? ["1000", "NULL"] : ["1000", "NULL", "1", "'rated-7'"];

    const { blocks } = await runOf(name, values, own);

    expect(blocks).toBeLessThan(1_000);
  },
);

test("release_jobs locks no jobs that stay", async () => {
  await using own = await withGatedJobs("behind");

  await runOf("release_jobs", ["NULL", "1000"], own);

  const { rows } = await own.query("SELECT count(*) FROM millrace.blocked WHERE xmax <> 0");
  expect(rows).toEqual([{ count: "0" }]);
});

async function emptyDatabase(name: string): Promise<Client & AsyncDisposable> {
  await client.query(`CREATE DATABASE "${name}"`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  const own = await connect(url.href);
  await migrate(own);
  return Object.assign(own, { [Symbol.asyncDispose]: () => own.end() });
}

const WORKER = "01234567-0000-7000-8000-000000000001";
const FRONT = 100_000;

/**
 * A database with so many locks, a long front of jobs of one of them, and three jobs behind it. The
 * type is 91, the tenants are 92 and 94, the lane is 93.
 */
async function withTakenKey(name: string, locks: number): Promise<Client & AsyncDisposable> {
  const own = await emptyDatabase(name);
  await own.query(`
    INSERT INTO millrace.interned_name (id, kind, text)
    VALUES (91, 1, 'one'), (92, 2, 'two'), (93, 3, 'three'), (94, 2, 'four');
    INSERT INTO millrace.worker
        (id, process, joined_at, until, renewed_at, beat_ms, beats, leases_at, pid, protocol, quiet,
         host, version, types, lanes, slots, lane_slots)
    VALUES ('${WORKER}', '${WORKER}', now(), now() + interval '1 day', now(), 1, 1, now(), 1, 1000,
            false, 'host', '1', '[]', '[]', 1, '{}');
    INSERT INTO millrace.lock
    SELECT 900000 + n, 1, 92, 'key-' || n FROM generate_series(1, ${locks}) AS n;
    INSERT INTO millrace.job
        (key, run_at, created_at, id, type, tenant, lane, priority, max_attempts, flags)
    OVERRIDING SYSTEM VALUE
    SELECT n, now(), now(), gen_random_uuid(), 91, 92, 93, 1, 1, 0 FROM generate_series(1, 3) AS n;
    INSERT INTO millrace.ready
        (key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency)
    SELECT n, n, 93, 1, 91, 92, 1, 0, 0, 'key-1' FROM generate_series(4, 4 + ${FRONT}) AS n
    UNION ALL
    VALUES (1, 900000, 93, 1, 91, 94, 1, 0, 0, 'key-1'),
           (2, 900000, 93, 1, 91, 92, 1, 0, 0, 'free'),
           (3, 900000, 93, 1, 91, 92, 1, 0, 0, NULL)`);
  await own.query("VACUUM (ANALYZE) millrace.ready");
  return own;
}

/** A database whose service 5, of type 9, is paused, with keyed jobs of type 2 that may run. */
async function withGatedJobs(name: string): Promise<Client & AsyncDisposable> {
  const own = await emptyDatabase(name);
  await own.query(`
    INSERT INTO millrace.interned_name (id, kind, text) VALUES (5, 5, 'bank');
    INSERT INTO millrace.service_use VALUES (5, 9);
    INSERT INTO millrace.gate VALUES (5, now(), NULL, 'test', NULL);
    INSERT INTO millrace.type_setting (declared_at, type, priority, max_attempts, lane, hash)
    VALUES (now(), 9, 1, 1, 'general', repeat('0', 64));
    INSERT INTO millrace.blocked (key, rank, gate, lane, priority, type, tenant, n, tries, crashes)
    SELECT n, n, 5, 1, 1, 9, 1, 1, 0, 0 FROM generate_series(1, 1000) AS n;
    INSERT INTO millrace.lock VALUES (1, 1, 1, 'taken');
    INSERT INTO millrace.ready
        (key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency)
    SELECT n, n, 1, 1, 2, 1, 1, 0, 0, 'key-' || n FROM generate_series(2000, ${ROWS}) AS n`);
  return own;
}

/** The blocks that a statement reads when it runs with these values. */
async function runOf(
  name: string,
  values: readonly string[],
  on: Client,
): Promise<{ readonly blocks: number }> {
  const { text } = queries.find((query) => query.name === name) ?? { text: "" };
  await on.query(`PREPARE ${name} AS ${bindParameters(text, "postgres").text}`);
  const { rows } = await on.query(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${name} (${values.join()})`,
  );
  const { Plan: plan } = rows[0]["QUERY PLAN"][0];
  return { blocks: plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] };
}

/** How many blocks a function reads. The first call also reads the catalogue, to plan. */
async function blocksOf(read: string, name: string, on = client): Promise<number> {
  await on.query(read);
  const { rows } = await on.query<{ "QUERY PLAN": string }>(`EXPLAIN (ANALYZE, BUFFERS) ${read}`);
  const text = rows.map((row) => row["QUERY PLAN"]).join("\n");
  const scan = new RegExp(`Function Scan on ${name}.*\\n((?:.*\\n)*?.*Buffers: .*)`);
  const [, scanned = ""] = scan.exec(text) ?? [];
  const blocks = [...scanned.matchAll(/(?:hit|read)=(\d+)/g)].map(([, count]) => Number(count));
  expect(blocks.length).toBeGreaterThan(0);
  return blocks.reduce((sum, count) => sum + count, 0);
}

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
