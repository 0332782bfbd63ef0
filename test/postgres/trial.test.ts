/**
 * The store port must fit both databases. PostgreSQL's own tree comes later; these are its claim,
 * settle and rescue, tried on a real server, so that the port promises nothing that one of them
 * cannot keep.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bindParameters, splitQueries } from "../../scripts/sql-files.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";

const FOLDER = join(import.meta.dirname, "trial");
const LANE = 3;
const COMPLETED = { outcome: 1, state: 4, delay_ms: null };
const RETRY = { outcome: 2, state: null, delay_ms: 60_000 };

const queries = new Map(
  splitQueries("queries.sql", readFileSync(join(FOLDER, "queries.sql"), "utf8")).map((named) => [
    named.name,
    bindParameters(named.text, "postgres"),
  ]),
);

let server: PostgresServer;
let clients: pg.Client[];
const worker = randomUUID();

beforeAll(async () => {
  server = await startPostgres();
  clients = await Promise.all([1, 2, 3].map(() => connect(server.url)));
});

afterAll(async () => {
  await Promise.all(clients.map((each) => each.end()));
  await server[Symbol.asyncDispose]();
});

beforeEach(async () => {
  const first = client(0);
  await first.query("DROP SCHEMA IF EXISTS millrace CASCADE");
  await first.query(readFileSync(join(FOLDER, "schema.sql"), "utf8"));
  await first.query(
    "INSERT INTO millrace.worker VALUES ($1, clock_timestamp() + interval '30 s', 0)",
    [worker],
  );
});

describe("claim on PostgreSQL", () => {
  test("takes the most urgent first, across lanes, and never more than asked", async () => {
    await addJobs(30, { lane: LANE, priority: 100 });
    await addJobs(5, { lane: LANE + 1, priority: 50 });

    const claimed = await claim(0, { lanes: [LANE, LANE + 1], limit: 7 });

    expect(claimed.map(({ key }) => Number(key))).toEqual([31, 32, 33, 34, 35, 1, 2]);
    expect(await countOf("ready")).toBe(28);
    expect(await countOf("lease")).toBe(1);
  });

  test("hands no job to two of three sessions that claim at once", async () => {
    await addJobs(600);

    const hands = await Promise.all([0, 1, 2].map((session) => claimAll(session)));

    const keys = hands.flat();
    expect(keys).toHaveLength(600);
    expect(new Set(keys).size).toBe(600);
  });

  test("leaves jobs behind a closed gate, and everything to a worker without a lease", async () => {
    await addJobs(3);
    await client(0).query("INSERT INTO millrace.gate VALUES (1, NULL)");
    expect(await claim(0)).toEqual([]);

    await client(0).query("DELETE FROM millrace.gate");
    await client(0).query("UPDATE millrace.worker SET until = clock_timestamp()");
    expect(await claim(0)).toEqual([]);
  });
});

describe("settle on PostgreSQL", () => {
  test("is fenced by number, secret, key, run and start", async () => {
    await addJobs(2);
    const [job] = await claim(0, { limit: 1 });
    const [buffered] = await claim(0, { limit: 1, buffer: true });

    const wrong = [
      { ...job, secret: "other" },
      { ...job, number: 99 },
      { ...job, key: buffered?.key },
      { ...job, n: 2 },
      buffered,
    ];
    for (const item of wrong) expect(await settle(0, [{ ...item, ...COMPLETED }])).toEqual([]);
    expect(await settle(0, [{ ...job, ...COMPLETED }])).toEqual([job?.key]);
    expect(await settle(0, [{ ...job, ...COMPLETED }])).toEqual([]);
  });

  test("moves a retry to its later time and drops the lease with its last job", async () => {
    await addJobs(2);
    const [first, second] = await claim(0);

    await settle(0, [{ ...first, ...RETRY }]);
    expect(await countOf("scheduled")).toBe(1);
    expect(await countOf("lease")).toBe(1);

    await settle(0, [{ ...second, ...COMPLETED }]);
    expect(await countOf("lease")).toBe(0);
  });
});

describe("rescue on PostgreSQL", () => {
  test("against two settlers: every job ends once, by exactly one of them", async () => {
    for (let round = 0; round < 15; round += 1) {
      await client(0).query(
        "UPDATE millrace.worker SET until = clock_timestamp() + interval '9 s'",
      );
      await addJobs(40);
      const jobs = await claim(0, { limit: 40 });
      await client(0).query("UPDATE millrace.worker SET until = clock_timestamp()");

      const [left, right, rescued] = await Promise.all([
        settleOneByOne(0, jobs.slice(0, 20)),
        settleOneByOne(1, jobs.slice(20)),
        rescue(2),
      ]);

      const settled = [...left, ...right].map(Number);
      expect(settled.filter((key) => rescued.includes(key))).toEqual([]);
      expect(settled.length + rescued.length).toBe(40);
      expect(await countOf("lease")).toBe(0);
      await client(0).query("TRUNCATE millrace.ready");
    }
  });

  test("moves nothing when the worker has beaten in between", async () => {
    await addJobs(1);
    await claim(0);
    await client(0).query("UPDATE millrace.worker SET until = clock_timestamp(), beats = 1");

    expect(await rescue(2, 0)).toEqual([]);
    expect(await rescue(2, 1)).toEqual([1]);
  });
});

function client(session: number): pg.Client {
  const found = clients[session];
  if (found === undefined) throw new Error(`no session ${session}`);
  return found;
}

async function query(session: number, name: string, values: Record<string, unknown>) {
  const found = queries.get(name);
  if (found === undefined) throw new Error(`no query ${name}`);
  const bound = found.parameters.map((parameter) => values[parameter]);
  return (await client(session).query(found.text, bound)).rows;
}

async function addJobs(count: number, { lane = LANE, priority = 100 } = {}): Promise<void> {
  await client(0).query(
    `WITH job AS (
       INSERT INTO millrace.job (id, type, tenant, lane, priority, run_at, max_attempts)
       SELECT gen_random_uuid(), 1, 2, $2, $3, clock_timestamp(), 5 FROM generate_series(1, $1)
       RETURNING *
     )
     INSERT INTO millrace.ready
     SELECT key, lane, priority, key, type, tenant, 1, 0, 0 FROM job`,
    [count, lane, priority],
  );
}

interface Claimed {
  number: string;
  secret: string;
  key: string;
  n: number;
  tries: number;
  crashes: number;
}

async function claim(
  session: number,
  { lanes = [LANE], limit = 100, buffer = false } = {},
): Promise<Claimed[]> {
  const secret = randomUUID();
  const rows = await query(session, "claim", { lanes, types: null, buffer, limit, worker, secret });
  return rows.map((row) => ({ ...row, secret, tries: 1 }));
}

async function claimAll(session: number): Promise<string[]> {
  const keys: string[] = [];
  for (let claimed = await claim(session, { limit: 20 }); claimed.length > 0;) {
    keys.push(...claimed.map(({ key }) => key));
    claimed = await claim(session, { limit: 20 });
  }
  return keys;
}

async function settle(session: number, items: readonly object[]): Promise<string[]> {
  const rows = await query(session, "settle", { items: JSON.stringify(items) });
  return rows.map(({ key }) => key);
}

async function settleOneByOne(session: number, jobs: readonly Claimed[]): Promise<string[]> {
  const settled: string[] = [];
  for (const job of jobs) settled.push(...(await settle(session, [{ ...job, ...COMPLETED }])));
  return settled;
}

/**
 * A whole rescue: one transaction, the decision between its statements. Answers the jobs it moved.
 */
async function rescue(session: number, beats = 0): Promise<number[]> {
  await client(session).query("BEGIN");
  const leases = await query(session, "rescue_lock", { worker, beats });
  const numbers = leases.map(({ number }) => number);
  const jobs = await query(session, "rescue_unfinished", { numbers });
  const items = jobs.map((job) => ({ ...job, tries: job.tries + 1, crashes: job.crashes + 1 }));
  await query(session, "rescue_apply", { items: JSON.stringify(items), numbers });
  await client(session).query("COMMIT");
  return jobs.map(({ key }) => Number(key));
}

async function countOf(table: string): Promise<number> {
  const { rows } = await client(0).query(
    `SELECT count(*)::integer AS count FROM millrace.${table}`,
  );
  return rows[0].count;
}
