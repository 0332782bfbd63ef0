/**
 * Workers on a pool of the application, on a server that asks for a password: handlers that hold
 * all connections of the pool, or block the event loop, lose no lease.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMillrace } from "../../src/open.ts";
import { postgresStore, type PgPool } from "../../src/store/postgres/index.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { workerInfo } from "../support/factories.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";
import { BLOCKED_MS, block, connectionOf, LEASE } from "./callers-pool.ts";
import { ended, linesOf, startChild } from "./children.ts";
import { testLogger } from "../support/logger.ts";

const PASSWORD = "a secret: 'quoted' %";

let server: PostgresServer;
let url: string;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
  url = await askForPassword();
});
afterAll(() => server[Symbol.asyncDispose]());

interface PoolCase {
  readonly name: string;
  readonly make: () => { readonly pool: Pool; readonly given: PgPool };
  /** What the log says when the worker starts. */
  readonly said: readonly RegExp[];
}

const POOLS: readonly PoolCase[] = [
  { name: "of two connections", make: () => plainPool(2), said: [/2 connection\(s\) at most/] },
  {
    name: "whose password is a function",
    make: () => same(new Pool({ ...connectionOf(url), password: async () => PASSWORD, max: 2 })),
    said: [
      /no thread, because the password of the pool is a function/,
      /2 connection\(s\) at most/,
    ],
  },
  {
    name: "that does not reveal its options",
    make: () => hiddenPool(3),
    said: [/does not reveal its connection options: .* One connection of the pool is kept/],
  },
];

describe.concurrent("handlers that hold all connections of a pool", () => {
  test.each(POOLS)("$name do not run twice", async ({ make, said }) => {
    const { pool, given } = make();
    const schema = `held_${POOLS.findIndex((each) => each.make === make)}`;
    const warnings: string[] = [];
    const runs: string[] = [];
    const warn = (message: string): void => void warnings.push(message);
    const logger = { debug() {}, info() {}, warn, error() {} };
    const mill = await openMillrace(postgresStore({ pool: given, schema }), { logger });
    const other = await openMillrace(postgresStore({ url, schema }), { logger });
    const size = pool.options.max;
    const jobs = await mill.enqueueMany(Array.from({ length: size }, () => block.of(undefined)));

    const holding = block.run(async (_, { job }) => {
      runs.push(job.id);
      const client = await pool.connect();
      await client.query("SELECT pg_sleep($1)", [BLOCKED_MS / 1_000]);
      client.release();
    });
    mill.work({ jobs: [holding], lease: LEASE });
    await expect.poll(() => runs.length, { timeout: 30_000 }).toBe(size);
    other.work({ jobs: [block.run((_, { job }) => void runs.push(job.id))], lease: LEASE });

    const finals = await Promise.all(jobs.map((job) => other.wait(job)));
    expect(new Set(finals.map(({ state }) => state))).toEqual(new Set(["completed"]));
    expect(new Set(runs).size).toBe(runs.length);
    // On a busy machine, a worker that cannot claim may also say that its lease has expired.
    expect(warnings.filter((each) => /^the (heartbeat|pool)/.test(each))).toEqual(
      said.map((pattern) => expect.stringMatching(pattern)),
    );
    await mill.close();
    await other.close();
    await pool.end();
  });
});

test("a handler that blocks the event loop of a process with a pool runs once", async () => {
  const schema = "blocked";
  const mill = await openMillrace(postgresStore({ url, schema }), { logger: testLogger });
  const job = await mill.enqueue(block);
  const child = startChild("callers-pool.child.ts", [url, schema, job.id]);
  const lines: string[] = [];
  for await (const line of linesOf(child)) {
    lines.push(line);
    if (line === "began") mill.work({ jobs: [block.run(() => {})], lease: LEASE });
  }
  expect(await ended(child)).toBe(0);
  expect(lines).toEqual(["began", "ended"]);
  const attempts = await mill.jobs.attempts(job.id);
  expect(attempts.map(({ outcome }) => outcome)).toEqual(["succeeded"]);
  await mill.close();
});

test("a pool of one connection that reveals nothing keeps none for the heartbeat", async () => {
  const { pool, given } = hiddenPool(1);
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  const logger = { debug() {}, info() {}, warn, error() {} };
  const mill = await openMillrace(postgresStore({ pool: given, schema: "single" }), { logger });
  mill.work({ jobs: [block.run(() => "done")] });
  expect(await mill.result(await mill.enqueue(block))).toBe("done");
  expect(warnings).toContainEqual(expect.stringMatching(/neither a thread nor a connection/));
  await mill.close();
  await pool.end();
});

test("a pool that reveals nothing keeps a connection until its last worker has gone", async () => {
  const { pool, given } = hiddenPool(3);
  let isRefusing = false;
  const store = makePostgresStore({
    pool: { ...given, connect: () => (isRefusing ? Promise.reject(refused()) : pool.connect()) },
    schema: "kept",
  });
  await store.open();
  const kept = async (): Promise<number> => {
    await sleep(50);
    return pool.totalCount - pool.idleCount;
  };
  const [one, two] = [workerInfo(), workerInfo()];
  isRefusing = true;
  await expect(store.register(one)).rejects.toThrow("refused");
  isRefusing = false;

  for (const worker of [one, two]) await store.register(worker);
  const counts = [await kept()];
  for (const { id } of [one, two]) {
    await store.deregister(id);
    counts.push(await kept());
  }

  expect(counts).toEqual([1, 1, 0]);
  await store.close();
  await pool.end();
});

function refused(): Error {
  return Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
}

test("a pool with a password of its own hears wake-ups", async () => {
  const { pool } = plainPool(3);
  const store = makePostgresStore({ pool, schema: "heard" });
  await store.open();
  // The listener reports possible work as soon as it listens.
  const wakeUp = await new Promise((resolve) => store.watch(resolve));
  expect(wakeUp).toBe("work");
  await store.close();
  await pool.end();
}, 20_000);

describe.concurrent("a pool that ends while a worker runs", { timeout: 60_000 }, () => {
  test.each(POOLS)("$name leaves its jobs to other workers", async ({ make }) => {
    const { pool, given } = make();
    const schema = `ended_${POOLS.findIndex((each) => each.make === make)}`;
    const errors: string[] = [];
    const error = (message: string, fields: object = {}): void => {
      errors.push(`${message}: ${String(Reflect.get(fields, "error"))}`);
    };
    const logger = { debug() {}, info() {}, warn() {}, error };
    const mill = await openMillrace(postgresStore({ pool: given, schema }), { logger });
    const other = await openMillrace(postgresStore({ url, schema }), { logger });
    const job = await mill.enqueue(block);
    const began = Promise.withResolvers<AbortSignal>();

    const ends = block.run(async (_, { signal }) => {
      began.resolve(signal);
      await once(signal, "abort");
    });
    mill.work({ jobs: [ends], lease: LEASE });
    const signalled = once(await began.promise, "abort");
    const poolEnd = pool.end();
    other.work({ jobs: [block.run(() => "elsewhere")], lease: LEASE });

    expect(await other.result(job)).toBe("elsewhere");
    await Promise.all([signalled, poolEnd]);
    await mill.close().catch(() => {});
    await other.close();
    expect(errors).toEqual([expect.stringMatching(/closed while the worker ran.* ended its pool/)]);
  });
});

/** Answers the address with the password. */
async function askForPassword(): Promise<string> {
  const client = await connect(server.url);
  const quoted = PASSWORD.replaceAll("'", "''");
  await client.query(`ALTER ROLE postgres PASSWORD '${quoted}'`);
  const { rows } = await client.query("SHOW hba_file");
  await client.query(
    `COPY (SELECT 'host all all 127.0.0.1/32 scram-sha-256') TO '${rows[0].hba_file}'`,
  );
  await client.query("SELECT pg_reload_conf()");
  await client.end();
  const address = new URL(server.url);
  address.password = encodeURIComponent(PASSWORD);
  return address.href;
}

function plainPool(max: number): ReturnType<PoolCase["make"]> {
  return same(new Pool({ ...connectionOf(url), password: PASSWORD, max }));
}

function same(pool: Pool): ReturnType<PoolCase["make"]> {
  pool.on("error", () => {});
  return { pool, given: pool };
}

/** A pool of another library. */
function hiddenPool(max: number): ReturnType<PoolCase["make"]> {
  const { pool } = plainPool(max);
  const given = {
    connect: () => pool.connect(),
    end: () => pool.end(),
    on: pool.on.bind(pool),
    off: pool.off.bind(pool),
  };
  return { pool, given };
}
