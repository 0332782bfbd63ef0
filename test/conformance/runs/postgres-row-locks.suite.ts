/**
 * What only a database with many writers can get wrong: who waits for whom. In each test another
 * client is in the middle of a transaction.
 */
import assert from "node:assert/strict";
import type { PoolClient } from "pg";
import { describe, expect, test, vi } from "vitest";
import { firstSlot } from "../../../src/core/cron/plan.ts";
import {
  completed,
  crashedOnce,
  fault,
  newJob,
  newJobs,
  newSchedule,
  retention,
  retryIn,
} from "../../support/factories.ts";
import { addAfter, freed } from "../../support/flows.ts";
import { done, keep, running, runNote } from "../../support/notes.ts";
import {
  add,
  addDead,
  at,
  claimable,
  claimRequest,
  eventsOf,
  joinWorker,
  recordOf,
  settleAll,
  settleItem,
  startAll,
  stateOf,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { PostgresTestStore } from "../../support/stores.ts";

const GATE = { kind: "type", name: "email" } as const;
const WHY = { reason: "maintenance", by: null } as const;
/** Enough that the last note waits for about a second before its first attempt. */
const NOTES_AHEAD = 8;
const NO_JOBS = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 } as const;

export function rowLocksSuite(open: () => Promise<PostgresTestStore>): void {
  describe("claim beside a client that takes a job", () => {
    test("takes the others at once", async () => {
      await using db = await open();
      const [, other] = await add(db.store, { priority: 1 }, { priority: 2 });
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query("SELECT 1 FROM millrace.ready WHERE priority = 1 FOR UPDATE");

      expect(await atOnce(db, claimable(db.store))).toEqual([other]);
    });

    test("does not say that it has taken all: the other client may leave the job", async () => {
      await using db = await open();
      await add(db.store, { priority: 1 }, { priority: 2 });
      const worker = await joinWorker(db.store);
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query("SELECT 1 FROM millrace.ready WHERE priority = 1 FOR UPDATE");

      const claim = await atOnce(db, db.store.claim(claimRequest(worker, { limit: 9 })));

      expect(claim.jobs).toHaveLength(1);
      expect(claim.tookAll).toBe(false);
    });
  });

  describe("claim while a rescuer has the worker", () => {
    test("waits for it, takes nothing in its name and leaves the jobs where they are", async () => {
      await using db = await open();
      const [id] = await add(db.store, {});
      const worker = await joinWorker(db.store);
      await using rescuer = await beginElsewhere(db);
      await rescuer.query("SELECT 1 FROM millrace.worker FOR UPDATE");

      const claim = db.store.claim(claimRequest(worker));
      await untilWaiting(db, claim);
      await rescuer.query("DELETE FROM millrace.worker");
      await rescuer.query("COMMIT");

      expect(await claim).toMatchObject({ lease: null, jobs: [] });
      expect(await claimable(db.store)).toEqual([id]);
    });
  });

  describe("countRunning beside a claim that has read the gates", () => {
    test("names the claim until it ends, and then counts its jobs (004-37)", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const worker = await joinWorker(store);
      await using rescuer = await beginElsewhere(db);
      await rescuer.query("SELECT 1 FROM millrace.worker FOR UPDATE");
      const claim = store.claim(claimRequest(worker));
      await untilWaiting(db, claim);

      await store.pause(GATE, WHY);
      const before = await store.countRunning(GATE, { rows: 10, ids: 10 });
      await rescuer.query("COMMIT");
      await claim;
      const { claims } = before;
      const after = await store.countRunning(GATE, { rows: 10, ids: 10, claims });

      expect(before).toEqual({ jobs: 0, isExact: true, ids: [], claims: [expect.any(String)] });
      expect(after).toEqual({ jobs: 1, isExact: true, ids: [id], claims: [] });
    });

    test("names no transaction that has not read the gates", async () => {
      await using db = await open();
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query("SELECT 1 FROM millrace.meta, millrace.job, millrace.lease");

      const { claims } = await db.store.countRunning(GATE, { rows: 10, ids: 10 });

      expect(claims).toEqual([]);
    });
  });

  describe("declareSchedules beside a process that declares the same", () => {
    test("waits for it, and leaves its schedule as it is", async () => {
      await using db = await open();
      const { store } = db;
      await store.declareSchedules([{ ...newSchedule(), name: "other" }], firstSlot);
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query(
        "INSERT INTO millrace.schedule " +
          `SELECT (jsonb_populate_record(known, '{"name": "hourly", "revision": 7}')).* ` +
          "FROM millrace.schedule AS known",
      );

      const declared = store.declareSchedules([newSchedule()], firstSlot);
      await untilWaiting(db, declared);
      await elsewhere.query("COMMIT");

      await declared;
      expect(await store.schedule("hourly")).toMatchObject({ revision: 7 });
    });
  });

  describe("rescue while the worker renews", () => {
    test("waits for the heartbeat, and then moves nothing", async () => {
      await using db = await open();
      const [id] = await add(db.store, {});
      const { worker } = await takeOne(db.store);
      await db.clock.advance(60_000);
      await using heartbeat = await beginElsewhere(db);
      await heartbeat.query("UPDATE millrace.worker SET beats = beats + 1");

      const rescue = db.store.rescue({ worker, beats: 0, limit: 10, decide: crashedOnce });
      await untilWaiting(db, rescue);
      await heartbeat.query("COMMIT");

      expect(await rescue).toEqual({ returned: 0, settled: [], missing: [], done: false });
      expect(await stateOf(db.store, id)).toBe("running");
    });
  });

  describe("promote beside a client that promotes", () => {
    test("moves the others at once", async () => {
      await using db = await open();
      await add(db.store, { due: { delayMs: 1 }, priority: 1 }, { due: { delayMs: 2 } });
      await db.clock.advance(10);
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query("SELECT 1 FROM millrace.scheduled WHERE priority = 1 FOR UPDATE");

      expect(await atOnce(db, db.store.promote(10))).toMatchObject({ moved: 1, nextDueMs: 0 });
    });
  });

  describe("hold beside a client that takes a job", () => {
    test("moves the others at once", async () => {
      await using db = await open();
      await add(db.store, { priority: 1 }, { priority: 2 });
      await db.store.pause(GATE, WHY);
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query("SELECT 1 FROM millrace.ready WHERE priority = 1 FOR UPDATE");

      expect(await atOnce(db, db.store.hold(10))).toBe(1);
    });
  });

  describe("release beside a client that releases", () => {
    test("moves the others at once", async () => {
      await using db = await open();
      await add(db.store, { priority: 1 }, { priority: 2 });
      await db.store.pause(GATE, WHY);
      await db.store.hold(10);
      await db.store.resume(GATE);
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query("SELECT 1 FROM millrace.blocked WHERE priority = 1 FOR UPDATE");

      expect(await atOnce(db, db.store.release(10))).toBe(1);
    });

    test("brings back what was held in the moment in which its gate opened", async () => {
      await using db = await open();
      const [id] = await add(db.store, {});
      await db.store.pause(GATE, WHY);
      await db.store.hold(10);
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query("DELETE FROM millrace.gate");
      await elsewhere.query("COMMIT");

      expect(await db.store.release(10)).toBe(1);
      expect(await claimable(db.store)).toEqual([id]);
    });
  });

  describe("settle of a job that a service has sent back beside a reset", () => {
    test("waits for the reset, and makes the job due", async () => {
      await using db = await open();
      const [id] = await add(db.store, {});
      const batch = await take(db.store);
      await db.store.openBreaker("bank", { reason: "audit", by: null });
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query("UPDATE millrace.breaker SET state = 1, opened_at = NULL");
      const refusal = {
        ...retryIn(9_000),
        outcome: "snoozed",
        fault: fault({ service: "bank" }),
      } as const;

      const settled = db.store.settle([settleItem(batch, at(batch.jobs, 0), refusal)]);
      await untilWaiting(db, settled);
      await elsewhere.query("COMMIT");

      expect(await settled).toEqual(["settled"]);
      expect(await stateOf(db.store, id)).toBe("queued");
    });
  });

  describe("prune beside a client that prunes", () => {
    test("removes the others at once", async () => {
      await using db = await open();
      await add(db.store, {}, {});
      await settleAll(db.store, await take(db.store), completed());
      await db.clock.advance(10);
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query("SELECT 1 FROM millrace.attempt ORDER BY key LIMIT 1 FOR UPDATE");

      const pruned = await atOnce(db, db.store.prune(retention({ finishedMs: NO_JOBS }), 10));

      expect(pruned).toMatchObject({ jobs: 1 });
    });

    test("says that more remain, when others share a full batch", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(6));
      await settleAll(store, await take(store), completed());
      await db.clock.advance(10);
      await using other = await beginElsewhere(db);
      await other.query("SELECT 1 FROM millrace.attempt ORDER BY key LIMIT 2 FOR UPDATE");

      const shared = await atOnce(db, store.prune(retention({ finishedMs: NO_JOBS }), 4));
      const last = await atOnce(db, store.prune(retention({ finishedMs: NO_JOBS }), 100));

      expect(shared).toMatchObject({ jobs: 2, more: true });
      expect(last).toMatchObject({ jobs: 2, more: false });
    });

    test("keeps what a lease still names, so that no reader takes it for unfinished", async () => {
      await using db = await open();
      const [id] = await add(db.store, { priority: 1 }, { priority: 2 });
      const batch = await take(db.store);
      await db.store.settle([settleItem(batch, batch.jobs[0]!, completed())]);
      await db.clock.advance(10);
      const rules = retention({ finishedMs: NO_JOBS });

      const early = await db.store.prune(rules, 10);
      await db.store.settle([settleItem(batch, batch.jobs[1]!, completed())]);
      await db.clock.advance(10);
      const late = await db.store.prune(rules, 10);

      expect([early.jobs, late.jobs]).toEqual([0, 2]);
      expect(await db.store.get(id)).toBeNull();
    });
  });

  describe("settle while a rescuer has the lease", () => {
    test.each([completed(), retryIn(10)])("waits for it, and $to is stale", async (settlement) => {
      await using db = await open();
      await add(db.store, {});
      const batch = await takeOne(db.store);
      await using rescuer = await beginElsewhere(db);
      await rescuer.query("SELECT 1 FROM millrace.lease FOR UPDATE");

      const answers = db.store.settle([settleItem(batch, batch.job, settlement)]);
      await untilWaiting(db, answers);
      await rescuer.query("DELETE FROM millrace.lease");
      await rescuer.query("COMMIT");

      expect(await answers).toEqual(["stale"]);
      expect(await db.store.attempts(batch.job.id)).toEqual([]);
    });
  });

  describe("startPrefetched while a caller requests a cancel", () => {
    test("waits for the request, and does not start the job (I8)", async () => {
      await using db = await open();
      const [goes, stays] = await add(db.store, {}, {});
      const batch = await take(db.store, { prefetch: true });
      await using operator = await beginElsewhere(db);
      await operator.query("SELECT 1 FROM millrace.lease FOR UPDATE");

      const answer = startAll(db.store, batch);
      await untilWaiting(db, answer);
      await operator.query(
        `INSERT INTO millrace.cancel_request (key, at) VALUES (${at(batch.jobs, 0).key}, now())`,
      );
      await operator.query("COMMIT");

      expect(await answer).toEqual({ status: "started", begun: [at(batch.jobs, 1).key] });
      expect(await stateOf(db.store, goes)).toBe("cancelled");
      expect(await eventsOf(db.store, goes)).toEqual(["job:enqueued", "job:cancelled"]);
      expect(await stateOf(db.store, stays)).toBe("running");
    });
  });

  describe("startPrefetched while a rescuer has the lease", () => {
    test("waits for it, and starts nothing", async () => {
      await using db = await open();
      const [id] = await add(db.store, {});
      const batch = await take(db.store, { prefetch: true });
      await using rescuer = await beginElsewhere(db);
      await rescuer.query("SELECT 1 FROM millrace.lease FOR UPDATE");

      const answer = startAll(db.store, batch);
      await untilWaiting(db, answer);
      await rescuer.query("DELETE FROM millrace.lease");
      await rescuer.query("COMMIT");

      expect(await answer).toEqual({ status: "stale", begun: [] });
      expect(await eventsOf(db.store, id)).toEqual(["job:enqueued"]);
    });
  });

  describe("startPrefetched beside a settle under the same lease", () => {
    test("starts at once", async () => {
      await using db = await open();
      await add(db.store, {}, {});
      const batch = await take(db.store, { prefetch: true });
      await using settler = await beginElsewhere(db);
      await settler.query("SELECT 1 FROM millrace.lease FOR KEY SHARE");

      const answer = await atOnce(db, startAll(db.store, batch));

      expect(answer.begun).toEqual(batch.jobs.map(({ key }) => key));
    });
  });

  describe("startPrefetched whose first call has not committed yet", () => {
    test("waits for it, and starts each job once", async () => {
      await using db = await open();
      const [first, second] = await add(db.store, {}, {});
      const batch = await take(db.store, { prefetch: true });
      const { number } = batch.lease;
      await using earlier = await beginElsewhere(db);
      await earlier.query(
        `SELECT 1 FROM millrace.lease FOR KEY SHARE;
         INSERT INTO millrace.run_start (lease, key, at)
         VALUES (${number}, ${at(batch.jobs, 0).key}, now());
         INSERT INTO millrace.event_outbox (at, kind, keys)
         VALUES (now(), 2, ARRAY[${at(batch.jobs, 0).key}])`,
      );

      const answer = startAll(db.store, batch);
      await untilWaiting(db, answer);
      await earlier.query("COMMIT");

      expect((await answer).begun).toEqual(batch.jobs.map(({ key }) => key));
      expect(await eventsOf(db.store, first)).toEqual(["job:enqueued", "job:started"]);
      expect(await eventsOf(db.store, second)).toEqual(["job:enqueued", "job:started"]);
    });
  });

  describe("record while a rescuer has the lease", () => {
    test("waits for it, and keeps nothing", async () => {
      await using db = await open();
      await add(db.store, {});
      const batch = await takeOne(db.store);
      await using rescuer = await beginElsewhere(db);
      await rescuer.query("SELECT 1 FROM millrace.lease FOR UPDATE");

      const answers = db.store.record([runNote(batch, batch.job, { units: [done("a")] })]);
      await untilWaiting(db, answers);
      await rescuer.query("DELETE FROM millrace.lease");
      await rescuer.query("COMMIT");

      expect(await answers).toEqual(["stale"]);
      expect(await db.store.units(batch.job.id, {}, { limit: 10 })).toEqual([]);
    });
  });

  describe("record of runs under two leases", () => {
    test("locks the leases in the order of their numbers", async () => {
      await using db = await open();
      await add(db.store, {}, {});
      const [older, newer] = [await takeOne(db.store), await takeOne(db.store)];
      await using elsewhere = await beginElsewhere(db);
      const lock = ({ lease }: typeof older): string =>
        `SELECT 1 FROM millrace.lease WHERE number = ${lease.number} FOR UPDATE NOWAIT`;
      await elsewhere.query(lock(older));

      const answers = db.store.record([
        runNote(newer, newer.job, { units: [done("a")] }),
        runNote(older, older.job, { units: [done("a")] }),
      ]);
      await untilWaiting(db, answers);
      await elsewhere.query(lock(newer));
      await elsewhere.query("COMMIT");

      expect(await answers).toEqual(["recorded", "recorded"]);
    });
  });

  describe("record beside a client that holds the key of a child", () => {
    test("keeps the notes of others at once, and those of that run in their order", async () => {
      await using db = await open();
      const runs: Awaited<ReturnType<typeof takeOne>>[] = [];
      for (const id of await add(db.store, ...newJobs(NOTES_AHEAD + 2))) {
        runs.push(await takeOne(db.store));
        assert.equal(runs.at(-1)?.job.id, id);
      }
      const [free, last, ...crowd] = runs;
      assert.ok(free !== undefined && last !== undefined);
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query(
        "INSERT INTO millrace.idempotency (tenant, key, job_id, body) " +
          "VALUES (1, 'k', gen_random_uuid(), sha256(''))",
      );
      const children = [newJob({ idempotency: { key: "k", onConflict: "return-existing" } })];

      // The notes ahead occupy the connections for single notes. The last note has not begun, and
      // locks no lease: only the order keeps the later note of the same run back.
      const first = db.store.record([
        ...crowd.map((batch) => runNote(batch, batch.job, { children })),
        runNote(last, last.job, { units: [running("a")], children }),
      ]);
      await untilWaiting(db, first);
      const second = db.store.record([runNote(last, last.job, { units: [done("a")] })]);
      await keep(db.store, free, { units: [done("b")] });
      const before = await db.store.units(last.job.id, {}, { limit: 10 });
      await elsewhere.query("ROLLBACK");

      expect(before).toEqual([]);
      expect(await db.store.units(free.job.id, {}, { limit: 10 })).toHaveLength(1);
      expect((await Promise.all([first, second])).flat()).toEqual(
        Array.from({ length: NOTES_AHEAD + 2 }, () => "recorded"),
      );
      const after = await db.store.units(last.job.id, {}, { limit: 10 });
      expect(after).toMatchObject([{ state: "completed" }]);
      expect(await stateOf(db.store, at(children, 0).id)).toBe("queued");
    });
  });

  describe("after one that gave way, beside a client that holds a key", () => {
    test("waits for whom it gave way to, though the jobs of the call go one by one", async () => {
      await using db = await open();
      const dedup = { key: "nightly", onConflict: "skip" } as const;
      const [holder] = await add(db.store, { dedup });
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query(
        "INSERT INTO millrace.idempotency (tenant, key, job_id, body) " +
          "VALUES (1, 'k', gen_random_uuid(), sha256(''))",
      );
      const [gives, plain] = [newJob({ dedup }), newJob()];
      const waits = newJob({ idempotency: { key: "k", onConflict: "return-existing" } });
      const job = newJob({ after: [gives.id, plain.id] });

      const answers = db.store.enqueue([gives, plain, waits, job]);
      await vi.waitFor(async () => expect(await db.store.get(job.id)).not.toBeNull());
      const before = await db.store.get(waits.id);
      await elsewhere.query("ROLLBACK");

      expect(before).toBeNull();
      expect(await answers).toMatchObject([
        { status: "existing", id: holder },
        { status: "created", id: plain.id },
        { status: "created", id: waits.id },
        { status: "created", id: job.id },
      ]);
      const awaited = await db.store.openDependencies(job.id, 10);
      expect(awaited.toSorted()).toEqual([holder, plain.id].toSorted());
    });
  });

  describe("settle of runs under two leases", () => {
    test.each([completed(), retryIn(10)])(
      "locks the leases in the order of their numbers, though it has $to",
      async (settlement) => {
        await using db = await open();
        await add(db.store, {}, {});
        const [older, newer] = [await takeOne(db.store), await takeOne(db.store)];
        await using elsewhere = await beginElsewhere(db);
        const lock = ({ lease }: typeof older): string =>
          `SELECT 1 FROM millrace.lease WHERE number = ${lease.number} FOR UPDATE NOWAIT`;
        await elsewhere.query(lock(older));

        const answers = db.store.settle([
          settleItem(newer, newer.job, settlement),
          settleItem(older, older.job, settlement),
        ]);
        await untilWaiting(db, answers);
        await elsewhere.query(lock(newer));
        await elsewhere.query("COMMIT");

        expect(await answers).toEqual(["settled", "settled"]);
      },
    );
  });

  describe("cancel while a settle is under way", () => {
    test("waits for it and finds the job over", async () => {
      await using db = await open();
      const [id] = await add(db.store, {});
      const { job } = await takeOne(db.store);
      await using settler = await beginElsewhere(db);
      await settler.query("SELECT 1 FROM millrace.lease FOR KEY SHARE");

      const answer = db.store.cancel(id, null, null);
      await untilWaiting(db, answer);
      await settler.query(
        `INSERT INTO millrace.attempt
           (key, n, tries, crashes, outcome, state, finished_at, started_at)
         VALUES (${job.key}, 1, 1, 0, 1, 4, now(), now())`,
      );
      await settler.query("COMMIT");

      expect(await answer).toEqual({ status: "final", state: "completed" });
      expect(await stateOf(db.store, id)).toBe("completed");
    });
  });

  describe("reprocess while another client discards the letter", () => {
    test("waits for it, finds the letter closed and makes no successor", async () => {
      await using db = await open();
      const [id] = await addDead(db.store, {});
      const successor = newJob({ retryOf: id });
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query(
        "UPDATE millrace.dead_letter SET status = 4, reviewed_by = 'ada', reviewed_at = now()",
      );

      const answer = db.store.reprocess(id, successor, "bob", null);
      await untilWaiting(db, answer);
      await elsewhere.query("COMMIT");

      expect(await answer).toMatchObject({ status: "closed", letter: { status: "discarded" } });
      expect(await db.store.get(successor.id)).toBeNull();
    });
  });

  describe("resolveDependencies beside another process that resolves one", () => {
    test("skips the locked one, and resolves the others", async () => {
      await using db = await open();
      const { store } = db;
      const [taken, free] = await add(store, {}, {});
      const waiting = await addAfter(store, [taken]);
      const other = await addAfter(store, [free]);
      const { key } = await recordOf(store, taken);
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query(
        `INSERT INTO millrace.finished_dependency (key) VALUES (${key}); COMMIT; BEGIN;
         SELECT 1 FROM millrace.finished_dependency FOR UPDATE`,
      );
      const batch = await take(store);
      const item = batch.jobs.find(({ id }) => id === free);
      await store.settle([settleItem(batch, item!, completed())]);

      await freed(store, other);

      expect((await recordOf(store, waiting)).heldBy).toEqual({ kind: "after" });
    });
  });

  describe("feed beside a writer who has not committed yet", () => {
    test("tells what is committed at once, and the late word afterwards", async () => {
      await using db = await open();
      const [first] = await add(db.store, {});
      await using writer = await beginElsewhere(db);
      await writer.query(
        `INSERT INTO millrace.event_outbox (at, kind, keys)
         SELECT now(), 2, array_agg(key) FROM millrace.job`,
      );
      const [second] = await add(db.store, {});

      const before = await atOnce(db, db.store.feed(0, 10));
      await writer.query("COMMIT");
      const after = await db.store.feed(before.at(-1)?.position ?? 0, 10);

      expect(before).toMatchObject([
        { position: 1, kind: "job:enqueued", jobs: [first] },
        { position: 2, kind: "job:enqueued", jobs: [second] },
      ]);
      expect(after).toMatchObject([{ position: 3, kind: "job:started", jobs: [first] }]);
    });
  });

  describe("feedEnd while another client numbers entries", () => {
    test("waits for them", async () => {
      await using db = await open();
      await add(db.store, {});
      await using elsewhere = await beginElsewhere(db);
      await elsewhere.query("SELECT 1 FROM millrace.feed_head FOR UPDATE");

      const end = db.store.feedEnd();
      await untilWaiting(db, end);
      await elsewhere.query("COMMIT");

      expect(await end).toBe(1);
    });
  });
}

interface Elsewhere extends AsyncDisposable {
  query(text: string): Promise<unknown>;
}

/** A transaction of another client, undone in the end. */
async function beginElsewhere({ pool, schema }: PostgresTestStore): Promise<Elsewhere> {
  const client: PoolClient = await pool.connect();
  await client.query("BEGIN");
  return {
    query: (text) => client.query(text.replaceAll("millrace.", `"${schema}".`)),
    async [Symbol.asyncDispose]() {
      await client.query("ROLLBACK");
      client.release();
    },
  };
}

/** The answer, which must come without waiting for a lock. */
async function atOnce<Answer>(db: PostgresTestStore, answer: Promise<Answer>): Promise<Answer> {
  assert.equal(await firstOf(db, answer), "answered");
  return answer;
}

/** Resolves when the answer waits for a lock, which it must. */
async function untilWaiting(db: PostgresTestStore, answer: Promise<unknown>): Promise<void> {
  assert.equal(await firstOf(db, answer), "waiting");
}

async function firstOf(
  { pool, schema }: PostgresTestStore,
  answer: Promise<unknown>,
): Promise<"answered" | "waiting"> {
  let isAnswered = false;
  const note = (): void => void (isAnswered = true);
  answer.then(note, note);
  for (;;) {
    const { rows } = await pool.query(
      `SELECT 1 FROM pg_stat_activity
       WHERE wait_event_type = 'Lock' AND query LIKE '%"' || $1 || '".%'`,
      [schema],
    );
    if (isAnswered) return "answered";
    if (rows.length > 0) return "waiting";
  }
}
