/**
 * What the store on PostgreSQL does in ways of its own: successes are settled on a shorter way than
 * other ends, and wake-ups travel through the database.
 */
import { describe, expect, test } from "vitest";
import { CALL_BYTES_MAX } from "../../../src/store/postgres/jobs/enqueue.ts";
import { uuidOf } from "../../../src/store/postgres/database/values.ts";
import type { SettleItem } from "../../../src/store/types/jobs-and-runs.ts";
import {
  cancelled,
  completed,
  failedWith,
  newJob,
  newJobs,
  retention,
} from "../../support/factories.ts";
import {
  add,
  at,
  claimRequest,
  joinWorker,
  recordOf,
  runOne,
  settleAll,
  settleItem,
  startAll,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { PostgresTestStore } from "../../support/stores.ts";
import { pastPostgres } from "../doctor/past-the-store.ts";
import { repairSuite } from "../queue/repair.suite.ts";
import { badRowsSuite } from "../doctor/bad-rows.suite.ts";
import { changedAuditSuite } from "../audit/changed-audit.suite.ts";
import { damagedTokensSuite } from "../identity/damaged-tokens.suite.ts";
import { freedKeysSuite } from "../doctor/freed-keys.suite.ts";
import { protocolSuite } from "../database/protocol.suite.ts";

/** Each way to say something of a job that one does not hold. */
const FORGERIES: readonly (readonly [string, (item: SettleItem) => SettleItem])[] = [
  ["a wrong secret", (item) => ({ ...item, lease: { ...item.lease, secret: "guessed" } })],
  ["an unknown lease", (item) => ({ ...item, lease: { ...item.lease, number: 9_999 } })],
  ["the number of an earlier run", (item) => ({ ...item, n: item.n - 1 })],
  ["the number of a later run", (item) => ({ ...item, n: item.n + 1 })],
  ["an unknown job", (item) => ({ ...item, key: 9_999 })],
];

export function ownWaysSuite(
  open: (connections?: "own" | "shared") => Promise<PostgresTestStore>,
): void {
  repairSuite(pastPostgres(open));
  badRowsSuite(pastPostgres(open));
  damagedTokensSuite(pastPostgres(open));
  changedAuditSuite(pastPostgres(open), "postgres");
  freedKeysSuite(pastPostgres(open));
  protocolSuite(pastPostgres(open));

  describe("foldMinutes", () => {
    test("leaves the outbox to the process that folds", async () => {
      await using db = await open();
      const { store, pool, schema } = db;
      await store.enqueue(newJobs(2));
      await settleAll(store, await take(store), completed());
      const client = await pool.connect();
      await client.query("BEGIN");
      await client.query(`SELECT FROM "${schema}".meta WHERE name = 'minute_fold' FOR UPDATE`);

      const meanwhile = await store.foldMinutes(10);
      await client.query("ROLLBACK");
      client.release();

      expect(meanwhile).toBe(0);
      expect(await store.foldMinutes(10)).toBe(1);
    });
  });

  describe("settle on either way", () => {
    test.each(FORGERIES)("refuses %s and changes nothing (I4)", async (_, forge) => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store);
      const item = settleItem(batch, batch.job, completed("1"));

      expect(await store.settle([forge(item)])).toEqual(["stale"]);

      expect(await store.attempts(id)).toEqual([]);
      expect(await store.settle([item])).toEqual(["settled"]);
    });

    test.each([completed(), failedWith()])(
      "refuses a job that has not begun, though it has $to",
      async (settlement) => {
        await using db = await open();
        const { store } = db;
        const [id] = await add(store, {});
        const batch = await take(store, { prefetch: true });

        const answers = await store.settle([settleItem(batch, at(batch.jobs, 0), settlement)]);

        expect(answers).toEqual(["stale"]);
        expect(await store.attempts(id)).toEqual([]);
      },
    );
  });

  describe("claim of a place without a job", () => {
    test.each([0, 3])("takes the %i others, and removes it", async (count) => {
      await using db = await open();
      const { store, pool, schema } = db;
      const ids = await add(store, ...Array.from({ length: count }, () => ({})));
      await add(store, {});
      await pool.query(`DELETE FROM "${schema}".job WHERE key = (
        SELECT max(key) FROM "${schema}".ready)`);

      const worker = await joinWorker(store);
      const { lease, jobs } = await store.claim(claimRequest(worker));

      expect(jobs.map(({ id }) => id)).toEqual(ids);
      expect(lease === null).toBe(count === 0);
      if (lease !== null) await settleAll(store, { worker, lease, jobs }, completed());
      const { rows } = await pool.query(`SELECT FROM "${schema}".lease`);
      expect(rows).toEqual([]);
    });
  });

  describe("settle of a success with a cancel request", () => {
    test("leaves nothing of the request", async () => {
      await using db = await open();
      const { store, pool, schema } = db;
      const [id] = await add(store, {});
      const batch = await take(store);
      await store.cancel(id, null, "too late");

      await settleAll(store, batch, completed());

      const { rows } = await pool.query(`SELECT key FROM "${schema}".cancel_request`);
      expect(rows).toEqual([]);
    });
  });

  describe("startPrefetched of a part of a lease", () => {
    test("rewrites no row of the lease", async () => {
      await using db = await open();
      const { store, pool, schema } = db;
      await add(store, {}, {}, {});
      const batch = await take(store, { prefetch: true });
      const version = async (): Promise<unknown> =>
        (await pool.query(`SELECT ctid, xmin FROM "${schema}".lease`)).rows;
      const before = await version();

      for (const { key } of batch.jobs) await store.startPrefetched(batch.lease, [key]);

      expect(await version()).toEqual(before);
    });
  });

  describe("settle of prefetched runs", () => {
    test.each([completed(), failedWith()])(
      "leaves no start behind, when the last one has $to",
      async (settlement) => {
        await using db = await open();
        const { store } = db;
        await add(store, {}, {});
        const batch = await take(store, { prefetch: true });
        await startAll(store, batch);
        await store.settle([settleItem(batch, at(batch.jobs, 0), settlement)]);
        expect(await startedIn(db)).toEqual(batch.jobs.map(({ key }) => key));

        await store.settle([settleItem(batch, at(batch.jobs, 1), settlement)]);

        expect(await startedIn(db)).toEqual([]);
      },
    );
  });

  describe("settle of runs that started with their claim", () => {
    test("looks no start up", async () => {
      await using db = await open();
      const { store, pool, schema } = db;
      await add(store, {});
      const { lease, job } = await takeOne(store);
      const client = await pool.connect();
      const scans = async (): Promise<unknown> => {
        const { rows } = await client.query(
          `SELECT seq_scan + idx_scan AS scans FROM pg_stat_xact_user_tables
           WHERE schemaname = $1 AND relname = 'run_start'`,
          [schema],
        );
        return rows[0].scans;
      };
      await client.query("BEGIN");
      const before = await scans();
      const settled = await client.query(
        `SELECT accepted FROM "${schema}".settle_done(
           $1, $2, '{1}', $3, '{1}', '{1}', '{0}', '{4}', NULL, now())`,
        [[lease.number], [lease.secret], [job.key]],
      );
      const after = await scans();
      await client.query("ROLLBACK");
      client.release();

      expect(settled.rows).toEqual([{ accepted: [String(job.key)] }]);
      expect(after).toBe(before);
    });
  });

  describe("returnPrefetched beside started and ended runs", () => {
    test("keeps the starts of the runs that stay in the lease", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {}, {});
      const batch = await take(store, { prefetch: true });
      const [ended, runs, given] = batch.jobs;
      await store.startPrefetched(batch.lease, [ended!.key, runs!.key]);
      await store.settle([settleItem(batch, ended!, completed())]);

      await store.returnPrefetched(batch.lease, [given!.key]);

      expect(await startedIn(db)).toEqual([runs!.key]);
      expect(await store.settle([settleItem(batch, runs!, completed())])).toEqual(["settled"]);
      expect(await startedIn(db)).toEqual([]);
    });
  });

  describe("renew of a lease whose runs have all ended", () => {
    test("deletes the lease a minute after the last end", async () => {
      await using db = await open();
      const { store, clock, pool, schema } = db;
      await add(store, {});
      const batch = await takeOne(store, { prefetch: true });
      await startAll(store, batch);
      const copy = `INSERT INTO "${schema}".lease
          (number, secret, worker, keys, ns, ranks, started_at, claimed_at)
        SELECT number + 1, secret, worker, keys, ns, ranks, started_at, claimed_at
        FROM "${schema}".lease;
        INSERT INTO "${schema}".run_start SELECT lease + 1, key, at FROM "${schema}".run_start`;
      await pool.query(copy);
      await settleAll(store, batch, completed());
      const leases = async (): Promise<number> =>
        (await pool.query(`SELECT FROM "${schema}".lease`)).rows.length;

      await clock.advance(59_000);
      await store.renew(batch.worker, 90_000);
      expect(await leases()).toBe(1);
      await clock.advance(2_000);
      await store.renew(batch.worker, 90_000);

      expect(await leases()).toBe(0);
      expect(await startedIn(db)).toEqual([]);
    });
  });

  describe("renew of a worker that has held many leases", () => {
    test("passes the leases that have gone, and tells the requests of all others", async () => {
      await using db = await open();
      const { store, clock } = db;
      const worker = await joinWorker(store, { leaseMs: 600_000 });
      const beat = async (): Promise<readonly number[]> => {
        await clock.advance(61_000);
        const renewal = await store.renew(worker, 600_000);
        return renewal.status === "lost" ? [] : renewal.cancel.map(({ key }) => key);
      };
      await add(store, {}, {}, {}, {});
      const long = await takeOne(store, { worker });
      for (let turn = 0; turn < 2; turn += 1) {
        await settleAll(store, await takeOne(store, { worker }), completed());
        await beat();
        await beat();
      }
      const last = await takeOne(store, { worker });
      await store.cancel(long.job.id, null, null);

      expect(await firstLease(db)).toBe(long.lease.number);
      expect(await beat()).toEqual([long.job.key]);
      await settleAll(store, long, completed());
      for (let turn = 0; turn < 3; turn += 1) await beat();
      expect(await firstLease(db)).toBe(last.lease.number);
      await store.cancel(last.job.id, null, null);
      expect(await beat()).toEqual([last.job.key]);
    });

    test("tells the request of a lease whose claim was committed late", async () => {
      await using db = await open();
      const { store, clock, pool, schema } = db;
      const worker = await joinWorker(store, { leaseMs: 600_000 });
      await add(store, {}, {});
      const late = await takeOne(store, { worker });
      const seen = await takeOne(store, { worker });
      // The claim of the first lease has drawn its number, and commits between two beats.
      const claim = await pool.connect();
      const moved = `"${schema}".late`;
      await claim.query(`CREATE TABLE ${moved} AS SELECT number, claimed_at, worker, secret, keys,
          ns, ranks, started_at FROM "${schema}".lease WHERE number = ${late.lease.number};
        DELETE FROM "${schema}".lease WHERE number = ${late.lease.number}`);
      for (let turn = 0; turn < 2; turn += 1) {
        await clock.advance(61_000);
        await store.renew(worker, 600_000);
      }
      await claim.query(`INSERT INTO "${schema}".lease (number, claimed_at, worker, secret, keys,
          ns, ranks, started_at) SELECT * FROM ${moved}; DROP TABLE ${moved}`);
      claim.release();
      await store.cancel(late.job.id, null, null);
      await clock.advance(61_000);

      const renewals = [await store.renew(worker, 600_000), await store.renew(worker, 600_000)];

      for (const renewal of renewals) {
        expect(renewal).toMatchObject({ cancel: [{ key: late.job.key }] });
      }
      expect(await firstLease(db)).toBe(late.lease.number);
      await settleAll(store, late, completed());
      await settleAll(store, seen, completed());
    });
  });

  describe("claim from marks", () => {
    test("looks at each stretch from its mark to its end, and at other lanes whole", async () => {
      await using db = await open();
      const { store } = db;
      const [passed, marked, urgent, next, other] = await add(
        store,
        { lane: "a", priority: 5 },
        { lane: "a", priority: 5 },
        { lane: "a", priority: 1 },
        { lane: "a", priority: 8 },
        { lane: "b", priority: 6 },
      );
      const [below, at5] = [await recordOf(store, passed), await recordOf(store, marked)];
      const rank = (at5.runAt ?? 0) * 1000;

      const keys = await claimFrom(db, [
        { priority: 0, rank: 0, key: 0, end: 5 },
        { priority: 5, rank, key: at5.key, end: 8 },
        { priority: 8, rank: 0, key: 0, end: 2_147_483_647 },
      ]);

      const wanted = await Promise.all([urgent, marked, other, next].map((id) => store.get(id)));
      expect(keys).toEqual(wanted.map((record) => record?.key));
      expect(keys).not.toContain(below.key);
    });
  });

  describe("count beside a lease that is half settled", () => {
    test("counts only the runs that are open", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {}, {});
      const batch = await take(store);
      await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);

      expect((await store.count({ states: ["running"] }, 10)).count).toBe(2);
      expect(await store.stats(10)).toMatchObject({ running: 2 });
    });
  });

  describe("prune of jobs that ended in several ways", () => {
    test("removes no more than asked in all", async () => {
      await using db = await open();
      const { store, clock } = db;
      for (const ending of [completed(), cancelled(), completed(), cancelled()]) {
        await store.enqueue([newJob()]);
        await runOne(store, ending);
        await clock.advance(1);
      }
      const finishedMs = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };

      expect(await store.prune(retention({ finishedMs }), 3)).toMatchObject({ jobs: 3 });
      expect((await store.count({}, 10)).count).toBe(1);
    });

    test("finds one that was committed late, before the one that went last", async () => {
      await using db = await open();
      const { store, clock, pool, schema } = db;
      const finishedMs = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
      await store.enqueue([newJob()]);
      await runOne(store, completed());
      expect(await store.prune(retention({ finishedMs }), 10)).toMatchObject({ jobs: 1 });

      await store.enqueue([newJob()]);
      await runOne(store, completed());
      const earlier = "finished_at = finished_at - interval '1 second'";
      await pool.query(`UPDATE "${schema}".attempt SET ${earlier}`);
      await clock.advance(1);

      expect(await store.prune(retention({ finishedMs }), 10)).toMatchObject({ jobs: 1 });
    });
  });

  describe("after one that gave way, in a call too heavy for one statement", () => {
    test("waits for whom it gave way to", async () => {
      await using db = await open();
      const { store } = db;
      const dedup = { key: "nightly", onConflict: "skip" } as const;
      const [holder] = await add(store, { dedup });
      const payload = JSON.stringify("x".repeat(CALL_BYTES_MAX / 2));
      const gives = newJob({ dedup, payload });
      const job = newJob({ after: [gives.id], payload });

      expect(await store.enqueue([gives, job])).toMatchObject([
        { status: "existing", id: holder },
        { status: "created", id: job.id },
      ]);
      expect(await store.openDependencies(job.id, 10)).toEqual([holder]);
    });

    test("waits for whom it gave way to in the transaction of a caller, too", async () => {
      await using db = await open();
      const { store, pool } = db;
      const dedup = { key: "nightly", onConflict: "skip" } as const;
      const [holder] = await add(store, { dedup });
      const payload = JSON.stringify("x".repeat(CALL_BYTES_MAX / 2));
      const gives = newJob({ dedup, payload });
      const job = newJob({ after: [gives.id], payload });
      const caller = await pool.connect();
      await caller.query("BEGIN");

      const answers = await store.enqueueInTransaction(caller, [gives, job]);
      await caller.query("COMMIT");
      caller.release();

      expect(answers).toMatchObject([{ status: "existing" }, { status: "created" }]);
      expect(await store.openDependencies(job.id, 10)).toEqual([holder]);
    });
  });

  describe("prune of what was committed late", () => {
    test("removes no more than asked, with those that came in time", async () => {
      await using db = await open();
      const { store, clock, pool, schema } = db;
      const finishedMs = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
      await store.enqueue(newJobs(1));
      await runOne(store, completed());
      await store.prune(retention({ finishedMs }), 10);

      await store.enqueue(newJobs(3));
      await settleAll(store, await take(store), completed());
      const earlier = "finished_at = finished_at - interval '1 second'";
      await pool.query(`UPDATE "${schema}".attempt SET ${earlier}`);
      await store.enqueue(newJobs(1));
      await runOne(store, completed());
      await clock.advance(1);

      expect(await store.prune(retention({ finishedMs }), 2)).toMatchObject({ jobs: 2 });
      expect((await store.count({}, 10)).count).toBe(2);
    });

    test("removes no more keys than asked, with those that expired in time", async () => {
      await using db = await open();
      const { store, clock } = db;
      await insertExpired(db, { key: "first", secondsAgo: 1 });
      await store.prune(retention(), 10);

      for (const key of ["a", "b", "c"]) await insertExpired(db, { key, secondsAgo: 2 });
      await insertExpired(db, { key: "in time", secondsAgo: 0 });
      await clock.advance(1);

      expect(await store.prune(retention(), 2)).toMatchObject({ idempotencyKeys: 2 });
      expect(await store.prune(retention(), 10)).toMatchObject({ idempotencyKeys: 2 });
    });
  });

  describe.each(["own", "shared"] as const)("watch with connections %s", (connections) => {
    test("hears what another process has done", async () => {
      await using db = await open(connections);
      const other = await db.another();
      const calls = callsOf(db);
      // The first call comes when the ear is open.
      await calls.next();

      await add(other, {});
      await expect(calls.next()).resolves.toBe("ready:general");

      // A start is told of after its commit, by a word that no new connection says.
      await take(other);
      await expect(calls.next()).resolves.toBe("events");

      // More than one at a time are told of by a word of its own.
      await add(other, {}, {});
      await expect(calls.next()).resolves.toBe("work");
    });
  });

  describe("watch on a connection that was cut", () => {
    test("hears again on another one", async () => {
      await using db = await open("own");
      const other = await db.another();
      const calls = callsOf(db);
      await calls.next();

      await db.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'millrace listener'`,
      );
      await calls.next();
      await add(other, {});

      await expect(calls.next()).resolves.toBe("ready:general");
    });
  });
}

/** An idempotency key whose job is gone. */
async function insertExpired(
  { pool, schema, clock }: PostgresTestStore,
  { key, secondsAgo }: { readonly key: string; readonly secondsAgo: number },
): Promise<void> {
  await pool.query(
    `INSERT INTO "${schema}".idempotency (tenant, key, job_id, body, expires_at)
     VALUES (1, $1, gen_random_uuid(), sha256(''), $2)`,
    [key, new Date(clock.now() - secondsAgo * 1_000)],
  );
}

/** The hints that a listener hears, one after the other. */
function callsOf({ store }: PostgresTestStore): { next(): Promise<string> } {
  const heard: string[] = [];
  const waiting: ((hint: string) => void)[] = [];
  store.watch((hint) => {
    const next = waiting.shift();
    if (next === undefined) heard.push(hint);
    else next(hint);
  });
  return {
    next: () =>
      new Promise((resolve) => {
        const first = heard.shift();
        if (first === undefined) waiting.push(resolve);
        else resolve(first);
      }),
  };
}

/** A part of a lane's order. */
interface ScanRange {
  readonly priority: number;
  readonly rank: number;
  readonly key: number;
  readonly end: number;
}

/** The keys that a claim takes from these stretches of lane `a` and from all other lanes. */
async function claimFrom(
  { store, clock, pool, schema }: PostgresTestStore,
  stretches: readonly ScanRange[],
): Promise<readonly number[]> {
  const column = (name: keyof ScanRange): number[] => stretches.map((stretch) => stretch[name]);
  const { rows } = await pool.query(
    `SELECT payload
     FROM "${schema}".claim_batch(
       $1, repeat('a', 32), NULL, NULL, NULL, false, 10,
       (SELECT array_agg(id) FROM "${schema}".interned_name, generate_series(1, $2)
        WHERE kind = 3 AND text = 'a'),
       $3, $4, $5, $6, NULL, NULL, NULL, NULL, NULL, NULL, $7)
     WHERE id IS NULL`,
    [
      uuidOf(await joinWorker(store)),
      stretches.length,
      column("priority"),
      column("rank"),
      column("key"),
      column("end"),
      new Date(clock.now()),
    ],
  );
  return rows[0].payload[0];
}

/** The keys of the runs whose start is stored apart from their lease. */
async function startedIn({ pool, schema }: PostgresTestStore): Promise<readonly number[]> {
  const { rows } = await pool.query(`SELECT key FROM "${schema}".run_start ORDER BY key`);
  return rows.map(({ key }) => Number(key));
}

/** The number from which heartbeats look for leases. */
async function firstLease({ pool, schema }: PostgresTestStore): Promise<number> {
  const { rows } = await pool.query(`SELECT leases_from FROM "${schema}".worker`);
  return Number(rows[0].leases_from);
}
