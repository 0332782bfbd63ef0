/** Workers and producers behind PgBouncer, as systems install it. */
import { once } from "node:events";
import { Pool, type PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { defineJob, typed } from "../../../src/api/define.ts";
import type { Millrace } from "../../../src/api/client.ts";
import { openMillrace } from "../../../src/open.ts";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import { postgresStore } from "../../../src/store/postgres/index.ts";
import { findPgBouncer, startPgBouncer, type PgBouncer } from "../../support/pgbouncer.ts";
import { connect, startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { add } from "../../support/steps.ts";

const PLAIN = 40;
const BEATS = 4;

const program = findPgBouncer();
const plain = defineJob({ type: "plain", payload: typed<number>() }).run((number) => number);
const steps = defineJob({ type: "steps" }).run(async (_, ctx) => {
  await ctx.step("one", () => 1);
  await ctx.progress(50);
  return ctx.step("two", () => 2);
});
const endless = defineJob({ type: "endless" }).run((_, { signal }) => once(signal, "abort"));
const JOBS = [plain, steps, endless];

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

/** In transaction mode, fewer sessions than the processes of a test have connections. */
const MODES = [
  { mode: "transaction", sessions: 3, wakeUps: "deaf", said: ["by polling only"] },
  { mode: "session", sessions: 60, wakeUps: "heard", said: [] },
] as const;

describe.each(MODES)("behind PgBouncer in $mode mode", ({ mode, sessions, wakeUps, said }) => {
  const schema = `behind_${mode}`;
  let pooler: PgBouncer | undefined;
  let mill: Millrace;
  let url: string;
  const warnings: string[] = [];
  const logger = {
    debug() {},
    info() {},
    warn: (message: string) => void warnings.push(message),
    error: (message: string, fields: object = {}) =>
      void warnings.push(`${message} ${String(Reflect.get(fields, "error"))}`),
  };

  beforeAll(async () => {
    if (program === null) return;
    pooler = await startPgBouncer(program.path, server.url, { mode, sessions });
    ({ url } = pooler);
    // Opening migrates.
    mill = await openMillrace(postgresStore({ url, schema }), { logger });
    mill.work({ jobs: JOBS, lease: "3s", lanes: { general: 10 } });
  });
  afterAll(async () => {
    await mill?.close();
    await pooler?.[Symbol.asyncDispose]();
  });

  test("jobs that are enqueued in every way run once", async (context) => {
    needsProgram(context);
    const many = await mill.enqueueMany(Array.from({ length: PLAIN }, (_, at) => plain.of(at)));
    const one = await mill.enqueue(plain, 100, { concurrencyKey: "docs" });
    const refs = [
      ...many,
      one,
      await mill.enqueue(plain, 101, { concurrencyKey: "docs", after: [one] }),
      await mill.enqueue(plain, 102, { idempotencyKey: "order 7" }),
      await mill.enqueue(plain, 103, { dedupKey: "site 7" }),
      await mill.enqueue(plain, 104, { delay: "50ms" }),
      await mill.enqueue(steps),
    ];

    const finals = await Promise.all(refs.map((ref) => mill.wait(ref)));

    expect(new Set(finals.map(({ state }) => state))).toEqual(new Set(["completed"]));
    const attempts = await Promise.all(refs.map(({ id }) => mill.jobs.attempts(id)));
    expect(attempts.flat()).toHaveLength(refs.length);
  });

  test("heartbeats keep a run until it is cancelled", async (context) => {
    needsProgram(context);
    const job = await mill.enqueue(endless);
    await untilState(mill, job.id, "running");
    const store = makePostgresStore({ url, schema });
    await store.open();
    const beats = async (): Promise<number> => (await store.workers(1))[0]?.beats ?? 0;
    const before = await beats();
    await expect.poll(beats, { timeout: 60_000 }).toBeGreaterThan(before + BEATS);
    await store.close();

    await mill.jobs.cancel(job.id);

    expect(await mill.wait(job)).toMatchObject({ state: "cancelled" });
    expect(await mill.jobs.attempts(job.id)).toMatchObject([{ outcome: "cancelled" }]);
  });

  test("{ tx } enqueues with the transaction, and only with it", async (context) => {
    needsProgram(context);
    const pool = new Pool({ connectionString: url });
    const kept = await inTransaction(pool, "COMMIT", (tx) => mill.enqueue(plain, 1, { tx }));
    const undone = await inTransaction(pool, "ROLLBACK", (tx) => mill.enqueue(plain, 2, { tx }));
    await pool.end();

    expect(await mill.result(kept)).toBe(1);
    await expect(mill.jobs.get(undone.id)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
  });

  test("the examination of the installation finds no fault", async (context) => {
    needsProgram(context);
    const store = makePostgresStore({ url, schema });
    await store.open();

    const { findings } = await store.examine();

    // The settings of the server of this test.
    const names = findings.map(({ name }) => name);
    expect(names.filter((name) => !["fsync", "full_page_writes"].includes(name))).toEqual([]);
    await store.close();
  });

  test("wake-ups of other processes are heard, or said to be not heard", async (context) => {
    needsProgram(context);
    const store = makePostgresStore({ url, schema });
    const other = makePostgresStore({ url: server.url, schema });
    await Promise.all([store.open(), other.open()]);
    const warned = new Promise<string>((resolve) => {
      store.onWarning((warning) => void (warning.includes("by polling only") && resolve("deaf")));
    });
    const heard = new Promise<string>((resolve) => {
      store.watch((wakeUp) => void (wakeUp === "ready:general" && resolve("heard")));
      // The listener wakes workers when it begins to listen.
      store.watch((wakeUp) => void (wakeUp === "work" && add(other, { type: "unknown" })));
    });

    const result = await Promise.race([warned, heard]);

    expect(result).toBe(wakeUps);
    await Promise.all([store.close(), other.close()]);
  });

  test("no statement and no LISTEN is left in a session of the server", async (context) => {
    needsProgram(context);
    await mill.close();

    // Each of the clients has one of the sessions. In session mode, the pooler resets a session.
    const clients = await Promise.all(
      Array.from({ length: MODES[0].sessions }, () => connect(url)),
    );
    for (const client of clients) await client.query("BEGIN");
    const left = await Promise.all(
      clients.map(async (client) => {
        const { rows } = await client.query(
          "SELECT name FROM pg_prepared_statements UNION ALL SELECT pg_listening_channels()",
        );
        await client.end();
        return rows;
      }),
    );
    expect(left.flat()).toEqual([]);
    const others = warnings.filter((warning) => !/fsync|full_page_writes/.test(warning));
    expect(others.map((warning) => /by polling only/.exec(warning)?.[0] ?? warning)).toEqual(said);
  });
});

function needsProgram(context: TestContext): void {
  context.skip(program === null, "PgBouncer is not installed");
}

async function untilState(mill: Millrace, id: string, state: string): Promise<void> {
  const stateNow = async (): Promise<unknown> => (await mill.jobs.get(id))?.state;
  await expect.poll(stateNow, { timeout: 60_000 }).toBe(state);
}

async function inTransaction<Ref>(
  pool: Pool,
  end: "COMMIT" | "ROLLBACK",
  enqueue: (tx: PoolClient) => Promise<Ref>,
): Promise<Ref> {
  const client = await pool.connect();
  await client.query("BEGIN");
  const ref = await enqueue(client);
  await client.query(end);
  client.release();
  return ref;
}
