/** Others stand in the way: deadlocks and serialization failures are tried again inside. */
import { setTimeout as sleep } from "node:timers/promises";
import { defineJob, openMillrace, typed } from "millrace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import type { JobStore } from "../../src/store/store.ts";
import {
  completed,
  crashedOnce,
  failedWith,
  newJob,
  retention,
  retryIn,
  workerInfo,
} from "../support/factories.ts";
import { done, keep } from "../support/notes.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";
import * as steps from "../support/steps.ts";
import { openPostgres, type PostgresTestStore } from "../support/stores.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

const GATE = { kind: "type", name: "email" } as const;
const WHY = { reason: "maintenance", by: null } as const;
const LATER = { due: { delayMs: 1_000 } } as const;
const NOTHING_KEPT = retention({
  finishedMs: { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 },
});

const NOTE = { units: [done("a")], completed: { name: "fetch", result: null } } as const;

/** What comes before the verb, and the verb itself. */
type Prepare = (db: PostgresTestStore) => Promise<() => Promise<unknown>>;

/** Each verb that writes, with a table that it writes to and how. */
const VERBS: readonly (readonly [verb: string, write: string, prepare: Prepare])[] = [
  [
    "enqueue",
    "INSERT ON job",
    async ({ store }) =>
      () =>
        steps.add(store, {}, {}),
  ],
  [
    "enqueue with keys",
    "INSERT ON idempotency",
    async ({ store }) =>
      () =>
        steps.add(store, { idempotency: { key: "one", onConflict: "error" } }),
  ],
  [
    "register",
    "INSERT ON worker",
    async ({ store }) =>
      () =>
        steps.joinWorker(store),
  ],
  [
    "renew",
    "UPDATE ON worker",
    async ({ store }) => {
      const worker = await steps.joinWorker(store);
      return () => store.renew(worker, 30_000);
    },
  ],
  [
    "deregister",
    "DELETE ON worker",
    async ({ store }) => {
      const worker = await steps.joinWorker(store);
      return () => store.deregister(worker);
    },
  ],
  ["claim", "INSERT ON lease", async ({ store }) => withJob(store, () => steps.take(store))],
  [
    "startPrefetched",
    "INSERT ON run_start",
    async ({ store }) => {
      await steps.add(store, {});
      const batch = await steps.take(store, { prefetch: true });
      return () => steps.startAll(store, batch);
    },
  ],
  [
    "returnPrefetched",
    "DELETE ON lease",
    async ({ store }) => {
      await steps.add(store, {});
      const { lease, jobs } = await steps.take(store, { prefetch: true });
      return () =>
        store.returnPrefetched(
          lease,
          jobs.map(({ key }) => key),
        );
    },
  ],
  ["settle", "INSERT ON attempt", ({ store }) => settling(store, completed())],
  ["settle otherwise", "INSERT ON scheduled", ({ store }) => settling(store, retryIn(1_000))],
  ["settle for good", "INSERT ON dead_letter", ({ store }) => settling(store, failedWith())],
  [
    "settle with a note",
    "INSERT ON phase",
    async ({ store }) => {
      await steps.add(store, {});
      const batch = await steps.takeOne(store);
      const item = steps.settleItem(batch, batch.job, completed());
      return () => store.settle([{ ...item, note: NOTE }]);
    },
  ],
  [
    "record",
    "INSERT ON unit",
    async ({ store }) => {
      await steps.add(store, {});
      const batch = await steps.takeOne(store);
      return () => keep(store, batch, NOTE);
    },
  ],
  [
    "rescue",
    "DELETE ON worker",
    async ({ store, clock }) => {
      await steps.add(store, {});
      const { worker } = await steps.take(store);
      await clock.advance(60_000);
      return () => steps.rescueSilent(store, worker, { decide: crashedOnce });
    },
  ],
  [
    "promote",
    "DELETE ON scheduled",
    async ({ store, clock }) => {
      await steps.add(store, LATER);
      await clock.advance(2_000);
      return () => store.promote(10);
    },
  ],
  [
    "cancel",
    "INSERT ON cancel_request",
    async ({ store }) => {
      const [id] = await steps.add(store, {});
      await steps.take(store);
      return () => store.cancel(id, null, null);
    },
  ],
  [
    "hurry",
    "INSERT ON ready",
    async ({ store }) => {
      const [id] = await steps.add(store, LATER);
      return () => store.hurry(id);
    },
  ],
  [
    "intervene",
    "INSERT ON attempt",
    async ({ store }) => {
      const [id] = await steps.add(store, {});
      return () => store.intervene(id, () => failedWith());
    },
  ],
  [
    "pause",
    "INSERT ON gate",
    async ({ store }) =>
      () =>
        store.pause(GATE, WHY),
  ],
  [
    "hold",
    "INSERT ON blocked",
    async ({ store }) => {
      await steps.add(store, {});
      await store.pause(GATE, WHY);
      return () => store.hold(10);
    },
  ],
  [
    "release",
    "DELETE ON blocked",
    async ({ store }) => {
      await steps.add(store, {});
      await store.pause(GATE, WHY);
      await store.hold(10);
      await store.resume(GATE);
      return () => store.release(10);
    },
  ],
  [
    "review",
    "UPDATE ON dead_letter",
    async ({ store }) => {
      const [id] = await steps.addDead(store, {});
      return () => store.review(id, { status: "acknowledged", by: "ada", notes: null });
    },
  ],
  [
    "reprocess",
    "UPDATE ON dead_letter",
    async ({ store }) => {
      const [id] = await steps.addDead(store, {});
      return () => store.reprocess(id, newJob({ retryOf: id }), "ada", null);
    },
  ],
  [
    "prune",
    "DELETE ON job",
    async ({ store, clock }) => {
      await (
        await settling(store, completed())
      )();
      await clock.advance(10);
      return () => store.prune(NOTHING_KEPT, 10);
    },
  ],
  ["feed", "INSERT ON event", async ({ store }) => withJob(store, () => store.feed(0, 10))],
];

describe.each([
  ["a deadlock", "40P01"],
  ["a serialization failure", "40001"],
])("%s", (_, state) => {
  test.each(VERBS)("is tried again inside by %s", async (_verb, write, prepare) => {
    await using db = await openPostgres(server, "shared");
    const verb = await prepare(db);
    const failures = await failTwice(db, write, state);
    await verb();
    expect(await failures.count()).toBeGreaterThanOrEqual(3);
    await failures.remove();
  });
});

describe("a transaction that locks in the opposite order", () => {
  test("costs rescue nothing but time", async () => {
    await using db = await openPostgres(server);
    await steps.add(db.store, {}, {});
    const { worker } = await steps.take(db.store);
    await db.clock.advance(60_000);
    const { settled } = await crossing(db, {
      first: "SELECT 1 FROM lease FOR UPDATE",
      second: "SELECT 1 FROM worker FOR UPDATE",
      verb: () => steps.rescueSilent(db.store, worker, { decide: crashedOnce }),
    });
    expect(settled).toHaveLength(2);
  });

  test("costs settle nothing but time", async () => {
    await using db = await openPostgres(server);
    const [one, two] = await steps.add(db.store, {}, {});
    const batches = [await steps.takeOne(db.store), await steps.takeOne(db.store)];
    const items = batches.map((batch) => steps.settleItem(batch, batch.job, retryIn(1)));
    const answers = await crossing(db, {
      first: "SELECT 1 FROM lease ORDER BY number DESC LIMIT 1 FOR UPDATE",
      second: "SELECT 1 FROM lease ORDER BY number LIMIT 1 FOR UPDATE",
      verb: () => db.store.settle(items),
    });
    expect(answers).toEqual(["settled", "settled"]);
    expect(await steps.stateOf(db.store, one)).toBe("scheduled");
    expect(await steps.stateOf(db.store, two)).toBe("scheduled");
  });

  test("costs prune nothing but time", async () => {
    await using db = await openPostgres(server);
    await (
      await settling(db.store, completed())
    )();
    await (
      await settling(db.store, completed())
    )();
    await db.clock.advance(10);
    const pruned = await crossing(db, {
      first: "SELECT 1 FROM job ORDER BY key DESC LIMIT 1 FOR UPDATE",
      second: "SELECT 1 FROM job ORDER BY key LIMIT 1 FOR UPDATE",
      verb: () => db.store.prune(NOTHING_KEPT, 10),
    });
    expect(pruned).toMatchObject({ jobs: 2 });
  });
});

describe.each(["serializable", "repeatable read"])("a database whose default is %s", (level) => {
  test("is worked on by two workers as any other", async () => {
    const url = await createStrict(level);
    const stores = [makePostgresStore({ url }), makePostgresStore({ url })] as const;
    const mills = [
      await openMillrace(stores[0], { logger: SILENT }),
      await openMillrace(stores[1], { logger: SILENT }),
    ] as const;
    await insistOnReadCommitted(url);
    const [dead] = await Promise.all([deadWorker(stores[0]), stores[0].enqueue(ORPHANS)]);
    await stores[0].claim(steps.claimRequest(dead));
    const runs: number[] = [];
    const child = defineJob({ type: "child", payload: typed<number>() }).run(() => {});
    const job = defineJob({
      type: "email",
      payload: typed<number>(),
      backoff: { kind: "fixed", base: 10, jitter: 0 },
    }).run(async (number, ctx) => {
      runs.push(number);
      if (number % 10 === 1 && ctx.attempt === 1) throw new Error("not yet");
      if (number % 10 === 2) await ctx.enqueue(child, number);
    });

    const workers = mills.map((mill) => mill.work({ jobs: [job, child], lease: "1s" }));
    const numbers = Array.from({ length: 200 }, (_, number) => number);
    await Promise.all(
      numbers.map((number) =>
        mills[number % 2 === 0 ? 0 : 1].enqueue(
          job,
          number,
          number % 4 === 0 ? { idempotencyKey: `key ${number}` } : {},
        ),
      ),
    );
    await expect
      .poll(() => mills[0].jobs.stats(), { timeout: 60_000 })
      .toMatchObject({ queued: 0, running: 0, scheduled: 0, failed: 0 });
    await Promise.all(workers.map((worker) => worker.stop()));
    const pruned = await stores[1].prune(NOTHING_KEPT, 1_000);
    await Promise.all(mills.map((mill) => mill.close()));

    expect(pruned.jobs).toBe(220 + ORPHANS.length);
    expect(runs.filter((number) => number % 10 !== 1 && number >= 0)).toHaveLength(180);
  });
});

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Jobs that a worker takes with it when it dies. */
const ORPHANS = Array.from({ length: 3 }, () => newJob({ payload: "-1" }));

/** A worker that joins, claims, and is never heard of again. */
async function deadWorker(store: JobStore) {
  return steps.joinWorker(store, workerInfo({ leaseMs: 1_000 }));
}

async function createStrict(level: string): Promise<string> {
  const name = level.replaceAll(" ", "_");
  const client = await connect(server.url);
  await client.query(`CREATE DATABASE ${name}`);
  await client.query(`ALTER DATABASE ${name} SET default_transaction_isolation = '${level}'`);
  await client.end();
  const url = new URL(server.url);
  url.pathname = name;
  return url.href;
}

/** What reads of one moment cannot promise, no statement that writes may rest on. */
async function insistOnReadCommitted(url: string): Promise<void> {
  const client = await connect(url);
  await client.query(`
    CREATE FUNCTION insist() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION '% in a transaction that is %', TG_TABLE_NAME,
          current_setting('transaction_isolation');
      END IF;
      RETURN NULL;
    END $$`);
  for (const table of ["job", "ready", "lease", "attempt", "worker", "event"]) {
    await client.query(`CREATE TRIGGER insist AFTER INSERT OR UPDATE OR DELETE
      ON millrace.${table} FOR EACH STATEMENT EXECUTE FUNCTION public.insist()`);
  }
  await client.end();
}

async function withJob<Answer>(store: JobStore, verb: () => Promise<Answer>) {
  await steps.add(store, {});
  return verb;
}

async function settling(store: JobStore, settlement: Parameters<typeof steps.settleAll>[2]) {
  await steps.add(store, {});
  const batch = await steps.take(store);
  return () => steps.settleAll(store, batch, settlement);
}

/** The first two statements that write so are ended by the server. */
async function failTwice({ pool, schema }: PostgresTestStore, write: string, state: string) {
  const [when = "", table = ""] = write.split(" ON ");
  await pool.query(`
    CREATE SEQUENCE "${schema}".failures;
    CREATE FUNCTION "${schema}".fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('"${schema}".failures') <= 2 THEN
        RAISE EXCEPTION 'planted' USING ERRCODE = '${state}';
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER fail AFTER ${when} ON "${schema}".${table}
      FOR EACH STATEMENT EXECUTE FUNCTION "${schema}".fail()`);
  return {
    async count(): Promise<number> {
      const { rows } = await pool.query(`SELECT last_value FROM "${schema}".failures`);
      return Number(rows[0].last_value);
    },
    async remove(): Promise<void> {
      await pool.query(
        `DROP FUNCTION "${schema}".fail CASCADE; DROP SEQUENCE "${schema}".failures`,
      );
    },
  };
}

interface Crossing<Answer> {
  /** What another client holds, and what it then waits for while the verb waits for it. */
  readonly first: string;
  readonly second: string;
  readonly verb: () => Promise<Answer>;
}

/** Plays a real deadlock, which the server ends at the cost of the verb. */
async function crossing<Answer>(db: PostgresTestStore, { first, second, verb }: Crossing<Answer>) {
  const other = await connect(server.url);
  try {
    await other.query(`SET search_path = "${db.schema}"; SET deadlock_timeout = '1h'`);
    await other.query("BEGIN");
    await other.query(first);
    const answer = verb();
    const { rows } = await other.query("SELECT pg_backend_pid() AS pid");
    await untilWaitingFor(db, rows[0].pid);
    await other.query(second);
    await other.query("COMMIT");
    return await answer;
  } finally {
    await other.end();
  }
}

async function untilWaitingFor({ pool }: PostgresTestStore, pid: number): Promise<void> {
  const text = "SELECT 1 FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))";
  while ((await pool.query(text, [pid])).rows.length === 0) await sleep(1);
}
