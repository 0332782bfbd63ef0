/**
 * Rows that no verb leaves behind, planted past the store. Each verb skips the bad row, names it
 * and goes on with its neighbours.
 */
import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { Settlement } from "../../../src/core/outcome.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { JobKey } from "../../../src/store/types/jobs-and-runs.ts";
import {
  cancelled,
  completed,
  failedWith,
  newJobs,
  retention,
  retryIn,
  runAgain,
} from "../../support/factories.ts";
import { detailsOf } from "../../support/notes.ts";
import {
  add,
  addCrashed,
  at,
  claimable,
  joinWorker,
  recordOf,
  rescueSilent,
  settleAll,
  settleItem,
  startAll,
  stateOf,
  take,
  takeOne,
  warningsOf,
  type Batch,
} from "../../support/steps.ts";
import { GATE } from "../../support/waiting.ts";
import type { OpenedPast, OpenPast } from "./past-the-store.ts";

const LEASE_MS = 30_000;
const KEEP_NO_JOBS = retention({
  finishedMs: { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 },
});

export function badRowsSuite(open: OpenPast): void {
  rescueTests(open);
  settleTests(open);
  claimTests(open);
  prefetchTests(open);
  placeTests(open);
  contentTests(open);
}

function rescueTests(open: OpenPast): void {
  describe("claimAlone of a job without a row", () => {
    test("drops the place, and takes another job with the next call", async () => {
      await using db = await open();
      const { store } = db;
      const bad = await addCrashed(store, 3, { lane: "a" });
      const good = await addCrashed(store, 3, { lane: "b" });
      await deleteJobs(db, [(await recordOf(store, bad)).key]);
      const worker = await joinWorker(store);
      const request = { worker, lanes: "any", cap: 3 } as const;

      const claims = [await store.claimAlone(request), await store.claimAlone(request)];

      expect(claims.map((claim) => claim?.job.id)).toEqual([undefined, good]);
    });
  });

  describe("rescue with a job without a row", () => {
    test("rescues its neighbours, names its key and removes the worker", async () => {
      await using db = await open();
      const { store, clock } = db;
      const { worker, jobs } = await takeThree(store);
      await store.enqueue(newJobs(3));
      const ahead = await take(store, { worker, prefetch: true });
      const missing = [at(jobs, 1).key, at(ahead.jobs, 0).key];
      await deleteJobs(db, missing);
      await clock.advance(LEASE_MS + 1);

      const rescue = await rescueSilent(store, worker, { decide: () => runAgain() });

      expect(rescue.settled.map(({ id }) => id)).toEqual([at(jobs, 0).id, at(jobs, 2).id]);
      expect(rescue).toMatchObject({ returned: 2, done: true });
      expect(new Set(rescue.missing)).toEqual(new Set(missing));
      expect(await claimable(store)).toHaveLength(4);
      expect(await db.count("lease")).toBe(1);
    });

    test("rescues the jobs of other workers", async () => {
      await using db = await open();
      const { store, clock } = db;
      const first = await takeThree(store);
      const second = await takeThree(store);
      await deleteJobs(
        db,
        first.jobs.map(({ key }) => key),
      );
      await clock.advance(LEASE_MS + 1);

      const rescues = [];
      for (const { worker } of [first, second]) {
        rescues.push(await rescueSilent(store, worker, { decide: () => runAgain() }));
      }

      expect(rescues).toMatchObject([
        { settled: [], returned: 0, done: true },
        { settled: [{}, {}, {}], missing: [], done: true },
      ]);
      expect(await store.workers(10)).toEqual([]);
    });

    test("frees the concurrency key of the job for the next one", async () => {
      await using db = await open();
      const { store, clock } = db;
      const concurrencyKey = "docs/main";
      const [, next] = await add(store, { concurrencyKey }, { concurrencyKey });
      const { worker, job } = await takeOne(store);
      await store.cancel(job.id, null, null);
      await deleteJobs(db, [job.key]);
      await clock.advance(LEASE_MS + 1);

      await rescueSilent(store, worker, { decide: () => runAgain() });

      expect(await claimable(store)).toEqual([next]);
      expect(await db.count("cancel_request")).toBe(0);
    });

    test("counts the job as one of those it may move", async () => {
      await using db = await open();
      const { store, clock } = db;
      const { worker, jobs } = await takeThree(store);
      await deleteJobs(db, [at(jobs, 0).key]);
      await clock.advance(LEASE_MS + 1);

      const parts = [];
      for (const _ of jobs) {
        parts.push(await rescueSilent(store, worker, { decide: () => runAgain(), limit: 1 }));
      }

      expect(parts.map(({ settled, missing }) => [settled.length, missing.length])).toEqual([
        [0, 1],
        [1, 0],
        [1, 0],
      ]);
    });
  });

  describe("rescue of a lease with broken lists", () => {
    test.each(["ns", "keys"])("takes the jobs whose entries in %s are whole", async (column) => {
      await using db = await open();
      const { store, clock } = db;
      const { worker, jobs } = await takeThree(store);
      const values = jobs.map(({ key, n }, index) => {
        if (index === 1) return null;
        return column === "ns" ? n : key;
      });
      await db.run(`UPDATE {lease} SET ${column} = ${db.list(...values)}`);
      await clock.advance(LEASE_MS + 1);

      const rescue = await rescueSilent(store, worker, { decide: () => runAgain() });

      expect(rescue.settled.map(({ id }) => id)).toEqual([at(jobs, 0).id, at(jobs, 2).id]);
      expect(rescue).toMatchObject({ done: true });
      expect(await stateOf(store, at(jobs, 1).id)).toBe("running");
    });
  });

  describe("overdue and renew with a job without a row", () => {
    test("answer for its neighbours", async () => {
      await using db = await open();
      const { store, clock } = db;
      const worker = await joinWorker(store);
      await add(store, { timeoutMs: 1_000 }, { timeoutMs: 1_000 }, { timeoutMs: 1_000 });
      const { jobs } = await take(store, { worker });
      for (const { id } of jobs) await store.cancel(id, null, null);
      await deleteJobs(db, [at(jobs, 1).key]);
      await clock.advance(5_000);

      const overdue = await store.overdue(worker, 0);
      const renewal = await store.renew(worker, LEASE_MS);

      const others = [at(jobs, 0).key, at(jobs, 2).key];
      expect(overdue.map(({ key }) => key)).toEqual(others);
      const told = renewal.status === "renewed" ? renewal.cancel.map(({ key }) => key) : [];
      expect(told).toEqual(expect.arrayContaining(others));
      expect(await store.workers(10)).toMatchObject([{ id: worker }]);
    });
  });
}

/** One for each way in which a settle moves its job. */
const ENDS: readonly (readonly [string, Settlement])[] = [
  ["a success", completed("1")],
  ["a failure", failedWith()],
  ["a retry", retryIn(0)],
  ["an interruption", runAgain()],
  ["a cancellation", cancelled()],
];

function settleTests(open: OpenPast): void {
  describe("settle of a job without a row", () => {
    test.each(ENDS)("that ends with %s answers missing, for this job only", async (_, end) => {
      await using db = await open();
      const { store } = db;
      const batch = await takeThree(store);
      await deleteJobs(db, [at(batch.jobs, 1).key]);

      const answers = await store.settle(batch.jobs.map((job) => settleItem(batch, job, end)));

      expect(answers).toEqual(["settled", "missing", "settled"]);
      expect(await db.count("attempt")).toBe(2);
      expect(await db.count("lease")).toBe(0);
    });

    test.each([0, 1, 2])("ends the lease with its neighbours, when it is run %i", async (index) => {
      await using db = await open();
      const { store } = db;
      const batch = await takeThree(store);
      await deleteJobs(db, [at(batch.jobs, index).key]);
      const order = [index, (index + 1) % 3, (index + 2) % 3];

      const answers = [];
      for (const each of [...order, ...order]) {
        answers.push(
          ...(await store.settle([settleItem(batch, at(batch.jobs, each), completed())])),
        );
      }

      expect(answers).toEqual(["missing", "settled", "settled", "stale", "stale", "stale"]);
      expect(await db.count("lease")).toBe(0);
    });

    test("leaves successes and failures of the same call alone", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(2 * ENDS.length));
      const batch = await take(store);
      const gone = batch.jobs.filter((_, index) => index % 2 === 1);
      await deleteJobs(
        db,
        gone.map(({ key }) => key),
      );

      const items = batch.jobs.map((job, index) =>
        settleItem(batch, job, at(ENDS, Math.floor(index / 2))[1]),
      );
      const answers = await store.settle(items);

      expect(answers).toEqual(ENDS.flatMap(() => ["settled", "missing"]));
      expect(await store.settle(items)).toEqual(items.map(() => "stale"));
      expect(await db.count("lease")).toBe(0);
    });

    test("frees its concurrency key, and tells nothing of it to the feed", async () => {
      await using db = await open();
      const { store } = db;
      const concurrencyKey = "docs/main";
      const [, next] = await add(store, { concurrencyKey }, { concurrencyKey });
      const batch = await takeOne(store);
      await deleteJobs(db, [batch.job.key]);

      expect(await store.settle([settleItem(batch, batch.job, completed())])).toEqual(["missing"]);

      expect(await claimable(store)).toEqual([next]);
      expect(await db.count("lock")).toBe(1);
      expect(await db.count("attempt")).toBe(0);
    });

    test("stores the notes of its neighbours", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await takeThree(store);
      await deleteJobs(db, [at(batch.jobs, 1).key]);
      const logs = [{ turn: 1, at: 1, level: "info", message: "hello", fields: null }] as const;

      const notes = batch.jobs.map(({ key, n }) => ({ lease: batch.lease, key, n, logs }));
      const recorded = await store.record(notes);

      expect([recorded[0], recorded[2]]).toEqual(["recorded", "recorded"]);
      expect(await store.logs(at(batch.jobs, 0).id, { limit: 10 })).toHaveLength(1);
    });
  });
}

function claimTests(open: OpenPast): void {
  describe("claim of a place without a job", () => {
    test("takes its neighbours with their own payloads, and names its key", async () => {
      await using db = await open();
      const { store } = db;
      const warnings = warningsOf(store);
      const payloads = ["1", "2", "3", "4"];
      const ids = await add(store, ...payloads.map((payload) => ({ payload })));
      const missing = (await recordOf(store, at(ids, 1))).key;
      await deleteJobs(db, [missing]);

      const batch = await take(store);

      expect(batch.jobs.map(({ id, payload }) => [id, payload])).toEqual([
        [ids[0], "1"],
        [ids[2], "3"],
        [ids[3], "4"],
      ]);
      expect(warnings).toEqual([expect.stringMatching(`claim .* key ${missing}, .* doctor --fix`)]);
      expect(await db.count("ready")).toBe(0);
      const answers = await store.settle(
        batch.jobs.map((job) => settleItem(batch, job, completed())),
      );
      expect(answers).toEqual(["settled", "settled", "settled"]);
      expect(await db.count("lease")).toBe(0);
    });

    test("finds the jobs behind it in the next call", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await add(store, {}, {}, {});
      const [first, second] = await Promise.all(ids.map((id) => recordOf(store, id)));
      await deleteJobs(db, [first!.key, second!.key]);
      const worker = await joinWorker(store);

      expect(await claimable(store, { worker, limit: 2 })).toEqual([]);

      expect(await claimable(store, { worker, limit: 2 })).toEqual([ids[2]]);
      expect(await db.count("lease")).toBe(1);
    });
  });
}

function prefetchTests(open: OpenPast): void {
  describe("returnPrefetched of a job without a row", () => {
    test("returns its neighbours, and names its key", async () => {
      await using db = await open();
      const { store } = db;
      const warnings = warningsOf(store);
      await store.enqueue(newJobs(3));
      const batch = await take(store, { prefetch: true });
      const keys = batch.jobs.map(({ key }) => key);
      await deleteJobs(db, [at(keys, 1)]);

      expect(await store.returnPrefetched(batch.lease, keys)).toBe(2);

      expect(await claimable(store)).toEqual([at(batch.jobs, 0).id, at(batch.jobs, 2).id]);
      expect(warnings).toEqual([expect.stringContaining(`key ${at(keys, 1)}`)]);
      expect(await db.count("lease")).toBe(1);
    });
  });

  describe("startPrefetched of a job without a row", () => {
    test("starts its neighbours", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(3));
      const batch = await take(store, { prefetch: true });
      await deleteJobs(db, [at(batch.jobs, 1).key]);

      const { begun } = await startAll(store, batch);
      const answers = await store.settle(
        batch.jobs.map((job) => settleItem(batch, job, completed())),
      );

      expect(begun).toEqual(expect.arrayContaining([at(batch.jobs, 0).key, at(batch.jobs, 2).key]));
      expect(answers).toEqual(["settled", "missing", "settled"]);
      expect(await db.count("lease")).toBe(0);
    });
  });
}

/** A waiting job as its row, for the place `ready`. */
const AS_READY = `INSERT INTO {ready}
  (lane, priority, rank, key, type, tenant, concurrency, n, tries, crashes)
  SELECT lane, priority, 1, key, type, tenant, concurrency, n, tries, crashes FROM`;

function placeTests(open: OpenPast): void {
  describe("promote", () => {
    test("moves the neighbours of a place without a job and of a job in two places", async () => {
      await using db = await open();
      const { store, clock } = db;
      const later = { due: { delayMs: 1_000 } } as const;
      const [one, gone, twin] = await add(store, later, later, later);
      await db.run(`${AS_READY} {scheduled} WHERE key = ${await keyOf(store, twin)}`);
      await deleteJobs(db, [await keyOf(store, gone)]);
      await clock.advance(2_000);

      expect(await store.promote(10)).toMatchObject({ moved: 3, nextDueMs: null });

      expect((await claimable(store)).toSorted()).toEqual([one, twin].toSorted());
      expect(await db.count("scheduled")).toBe(0);
    });
  });

  describe("hold and release", () => {
    test("move the neighbours of a place without a job and of a job in two places", async () => {
      await using db = await open();
      const { store } = db;
      const [one, gone, twin] = await add(store, {}, {}, {});
      await store.pause(GATE, { reason: "test", by: null });
      const missing = await keyOf(store, gone);
      await deleteJobs(db, [missing]);

      expect(await store.hold(10)).toBe(3);
      await db.run(`${AS_READY} {blocked} WHERE key = ${await keyOf(store, twin)}`);
      await store.hold(10);
      await db.run(`${AS_READY} {blocked} WHERE key = ${await keyOf(store, twin)}`);
      await store.resume(GATE);
      await store.release(10);

      expect((await claimable(store)).toSorted()).toEqual([one, twin].toSorted());
      expect(await db.count("blocked")).toBe(0);
    });
  });

  describe("resolveDependencies", () => {
    test("goes on when a dependency or a dependant has no row", async () => {
      await using db = await open();
      const { store } = db;
      const [first, second] = await add(store, {}, {});
      const [one, gone, other] = await add(
        store,
        { after: [first] },
        { after: [first] },
        { after: [first, second], onFailed: "run" },
      );
      await deleteJobs(db, [await keyOf(store, gone), await keyOf(store, second)]);
      const batch = await takeOne(store);
      await store.settle([settleItem(batch, batch.job, completed())]);

      for (const _ of [1, 2, 3]) await store.resolveDependencies(10);

      expect((await claimable(store)).toSorted()).toEqual([one, other].toSorted());
      expect(await db.count("dependency")).toBe(0);
    });
  });

  describe("expired and prune", () => {
    test("remove the neighbours of a ledger row without a job", async () => {
      await using db = await open();
      const { store, clock } = db;
      const batch = await takeThree(store);
      await store.settle(batch.jobs.map((job) => settleItem(batch, job, failedWith())));
      await deleteJobs(db, [at(batch.jobs, 1).key]);
      await clock.advance(1_000);

      const page = { fresh: false, limit: 10, from: null };
      const { jobs } = await store.expired(KEEP_NO_JOBS, page);
      await store.prune(KEEP_NO_JOBS, 10);

      expect(jobs.map(({ id }) => id)).toEqual([at(batch.jobs, 0).id, at(batch.jobs, 2).id]);
      expect(await db.count("job")).toBe(0);
    });
  });
}

function contentTests(open: OpenPast): void {
  describe("an interned name that is missing", () => {
    test("stops no verb, neither for its job nor for the others", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [ghost, other] = await add(store, { type: "ghost", tenant: "ghosts" }, {});
      await db.run("DELETE FROM {interned_name} WHERE text LIKE 'ghost%'");
      const fresh = await db.another();
      const worker = await joinWorker(fresh);

      const batch = await take(fresh, { worker });
      expect(batch.jobs.map(({ id }) => id)).toEqual([ghost, other]);
      await clock.advance(LEASE_MS + 1);
      const rescue = await rescueSilent(fresh, worker, { decide: () => runAgain() });
      expect(rescue.settled).toHaveLength(2);
      const again = await take(fresh);
      const answers = await fresh.settle(
        again.jobs.map((job) => settleItem(again, job, failedWith())),
      );

      expect(answers).toEqual(["settled", "settled"]);
      expect(await fresh.get(ghost)).toMatchObject({
        state: "failed",
        type: expect.stringMatching(/^unknown name \d+$/),
      });
      const { jobs } = await fresh.list({}, { limit: 10 });
      expect(jobs).toHaveLength(2);
      expect(await fresh.deadLetter(other)).not.toBeNull();
      await clock.advance(1_000);
      expect(await fresh.prune(KEEP_NO_JOBS, 10)).toMatchObject({ jobs: 2 });
      expect((await detailsOf(fresh, ghost)).at(-1)).toEqual([
        "job:deleted",
        expect.objectContaining({
          type: expect.stringMatching(/^unknown name \d+$/),
          tenant: expect.stringMatching(/^unknown name \d+$/),
        }),
      ]);
    });
  });

  describe("prune of an event that is older than the event before it", () => {
    test("leaves the event until those before it have expired", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      await clock.advance(10_000);
      await add(store, {});
      await add(store, {});
      const [first, second, third] = await positionsOf(store);
      await db.run(
        `UPDATE {event} SET at = (SELECT min(at) FROM {event}) WHERE position = ${third}`,
      );
      const rules = retention({ eventMs: 5_000 });

      const early = await store.prune(rules, 10);
      const left = await positionsOf(store);
      await clock.advance(10_000);
      const late = await store.prune(rules, 10);

      expect([early.events, late.events]).toEqual([1, 2]);
      expect([first, ...left]).toEqual([first, second, third]);
      expect(await positionsOf(store)).toEqual([]);
    });
  });

  describe("an entry of removed jobs from before it had details", () => {
    test("is read without details", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      await settleAll(store, await take(store), completed());
      await clock.advance(1_000);
      await store.prune(KEEP_NO_JOBS, 10);
      expect((await store.feed(0, 10)).at(-1)?.details).toHaveLength(1);
      await db.run("UPDATE {event} SET details = NULL");

      const told = (await store.feed(0, 10)).at(-1);

      expect(told).toMatchObject({ kind: "job:deleted", jobs: [id], places: [0], details: null });
    });
  });

  describe("an error that cannot be read", () => {
    test("stops no verb that answers several jobs", async () => {
      await using db = await open();
      const { store, clock } = db;
      const batch = await takeThree(store);
      await store.settle(batch.jobs.map((job) => settleItem(batch, job, failedWith())));
      const { key, id } = at(batch.jobs, 1);
      await db.run(`UPDATE {attempt} SET error = ${db.badJson} WHERE key = ${key}`);
      await clock.advance(1_000);

      const { jobs } = await store.list({}, { limit: 10 });
      const page = { fresh: false, limit: 10, from: null };
      const expired = await store.expired(KEEP_NO_JOBS, page);

      expect(jobs).toHaveLength(3);
      expect(expired.jobs).toHaveLength(3);
      expect(await recordOf(store, id)).toMatchObject({ fault: { name: "UnreadableError" } });
      await store.prune(KEEP_NO_JOBS, 10);
      expect(await db.count("job")).toBe(0);
    });
  });
}

async function takeThree(store: JobStore): Promise<Batch> {
  const worker = await joinWorker(store, { leaseMs: LEASE_MS });
  await store.enqueue(newJobs(3));
  return take(store, { worker });
}

async function deleteJobs(db: OpenedPast, keys: readonly JobKey[]): Promise<void> {
  await db.run(`DELETE FROM {job} WHERE key IN (${keys.join(", ")})`);
}

async function keyOf(store: JobStore, id: JobId): Promise<JobKey> {
  return (await recordOf(store, id)).key;
}

async function positionsOf(store: JobStore): Promise<readonly number[]> {
  return (await store.feed(0, 100)).map(({ position }) => position);
}
