import { describe, expect, test, vi } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import {
  cancelled,
  completed,
  completedWithErrors,
  failedWith,
  fault,
  newJobs,
  retention,
  retryIn,
  runAgain,
} from "../../support/factories.ts";
import {
  add,
  at,
  claimable,
  eventsOf,
  recordOf,
  rescueSilent,
  runOne,
  settleAll,
  settleItem,
  stateOf,
  take,
  takeOne,
  type Batch,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

export function settleSuite(open: OpenStore): void {
  describe("settle", () => {
    test.each([
      ["a success", (store: JobStore, batch: Batch) => settleAll(store, batch, completed())],
      ["a failure", (store: JobStore, batch: Batch) => settleAll(store, batch, retryIn(1_000))],
      [
        "an operator",
        (store: JobStore, { jobs }: Batch) => store.intervene(at(jobs, 0).id, () => failedWith()),
      ],
    ])("ends no run before its start, after the clock was set back, by %s", async (_, end) => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const batch = await take(store);
      const earlier = clock.now() - 60_000;
      vi.spyOn(clock, "now").mockReturnValue(earlier);

      await end(store, batch);

      expect(await store.attempts(id)).toMatchObject([
        { claimedAt: earlier, startedAt: earlier, finishedAt: earlier },
      ]);
    });

    test("completes a job with its result (002-32, 003-14)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const { job, ...batch } = await takeOne(store);
      const startedAt = clock.now();
      await clock.advance(250);

      const answers = await store.settle([
        settleItem(batch, job, completed('{"fetched_count":10}')),
      ]);

      expect(answers).toEqual(["settled"]);
      expect(await recordOf(store, id)).toMatchObject({
        state: "completed",
        result: '{"fetched_count":10}',
        fault: null,
        cancelReason: null,
        attempts: 1,
        crashes: 0,
        outcome: "succeeded",
        runAt: null,
        startedAt,
        finishedAt: clock.now(),
      });
      expect(await store.attempts(id)).toEqual([
        {
          n: 1,
          tries: 1,
          crashes: 0,
          fence: batch.lease.number,
          worker: batch.worker,
          claimedAt: startedAt,
          startedAt,
          finishedAt: clock.now(),
          outcome: "succeeded",
          errorClass: null,
          fault: null,
          reason: null,
          nextRunAt: null,
        },
      ]);
      expect(await store.deadLetter(id)).toBeNull();
      expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:started", "job:completed"]);
    });

    test("completes a job some of whose units failed (000-42)", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});

      await runOne(store, { ...completedWithErrors(2), result: "[1]" });

      expect(await recordOf(store, id)).toMatchObject({
        state: "completed_with_errors",
        result: "[1]",
        attempts: 1,
      });
      expect(await store.deadLetter(id)).toBeNull();
      expect((await eventsOf(store, id)).at(-1)).toBe("job:completed");
    });

    test("completes a job whose retries a supervisor owns and keeps its fault (C-06)", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { retryOwner: "supervisor" });

      await runOne(store, { ...completed(), outcome: "failed", fault: fault() });

      expect(await recordOf(store, id)).toMatchObject({ state: "completed", fault: fault() });
      expect(await store.attempts(id)).toMatchObject([
        { outcome: "failed", errorClass: "retryable", fault: fault() },
      ]);
      expect(await store.deadLetter(id)).toBeNull();
      expect((await eventsOf(store, id)).at(-1)).toBe("job:completed");
    });

    test("fails a job into a dead letter with its own copy (002-04, 003-22, 003-23)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const error = fault({
        class: "non_retryable",
        name: "TypeError",
        message: "ünlesbar 🌾",
        stack: "TypeError: ünlesbar\n    at read (a.ts:1:1)",
        service: "object-store",
      });
      const [id] = await add(store, { tenant: "acme", payload: '{"marker":"m4rk3r"}' });
      await runOne(store, { ...runAgain(), tries: 1 });
      await clock.advance(40);

      await runOne(store, { ...failedWith(error), tries: 2 });

      expect(await recordOf(store, id)).toMatchObject({
        state: "failed",
        fault: error,
        attempts: 2,
        result: null,
        finishedAt: clock.now(),
      });
      const letter = await store.deadLetter(id);
      expect(letter).toMatchObject({
        id,
        type: "email",
        tenant: "acme",
        status: "pending_review",
        fault: error,
        attempts: 2,
        diedAt: clock.now(),
      });
      expect(letter?.spec).toContain("m4rk3r");
      expect(() => JSON.parse(letter?.spec ?? "")).not.toThrow();
      expect((await store.attempts(id)).at(-1)).toMatchObject({
        n: 2,
        outcome: "failed",
        errorClass: "non_retryable",
        fault: error,
        nextRunAt: null,
      });
      expect((await eventsOf(store, id)).at(-1)).toBe("job:failed");
    });

    test("cancels a running job", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});

      await runOne(store, cancelled("no longer wanted"));

      expect(await recordOf(store, id)).toMatchObject({
        state: "cancelled",
        attempts: 0,
        finishedAt: clock.now(),
        cancelReason: "no longer wanted",
      });
      expect(await store.attempts(id)).toMatchObject([
        { n: 1, outcome: "cancelled", reason: "no longer wanted" },
      ]);
      expect(await store.deadLetter(id)).toBeNull();
      expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:started", "job:cancelled"]);
    });

    test("schedules the next run after its delay, by the store's clock (001-28)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const scheduledAt = clock.now();
      const batch = await takeOne(store);
      await clock.advance(300);
      const dueAt = clock.now() + 2_000;

      await settleAll(store, batch, { ...retryIn(2_000), tries: 1, crashes: 1 });

      expect(await recordOf(store, id)).toMatchObject({
        state: "scheduled",
        runAt: dueAt,
        scheduledAt,
        attempts: 1,
        crashes: 1,
        finishedAt: null,
        fault: fault(),
      });
      expect(await store.attempts(id)).toMatchObject([
        { n: 1, outcome: "failed", errorClass: "retryable", nextRunAt: dueAt },
      ]);
      expect((await eventsOf(store, id)).at(-1)).toBe("job:retrying");
      expect(await claimable(store)).toEqual([]);

      await clock.advance(2_000);
      await store.promote(10);
      expect((await takeOne(store)).job).toMatchObject({ id, n: 2, tries: 1, crashes: 1 });
    });

    test("keeps the first planned time of a job that is retried", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const scheduledAt = clock.now();
      await clock.advance(100);

      await runOne(store, retryIn(2_000));

      expect((await recordOf(store, id)).scheduledAt).toBe(scheduledAt);
    });

    test("queues a job that runs again at once, behind those that came before", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [again] = await add(store, {});
      const batch = await takeOne(store);
      await clock.advance(10);
      const [waiting] = await add(store, {});
      await clock.advance(10);

      await settleAll(store, batch, runAgain());
      const [newer] = await add(store, {});

      expect(await recordOf(store, again)).toMatchObject({
        state: "queued",
        runAt: clock.now(),
        attempts: 0,
      });
      expect(await store.attempts(again)).toMatchObject([
        { n: 1, outcome: "interrupted", fault: null, nextRunAt: clock.now() },
      ]);
      const next = await take(store);
      expect(next.jobs.map((job) => job.id)).toEqual([waiting, again, newer]);
      expect(next.jobs[1]).toMatchObject({ n: 2, tries: 0 });
    });

    test("puts a job back into its own lane, with its own priority", async () => {
      await using db = await open();
      const { store } = db;
      const kind = { lane: "fast", tenant: "acme", type: "sms" };
      const [urgent, rival] = await add(store, { ...kind, priority: 7 }, { ...kind, priority: 8 });
      await runOne(store, runAgain());

      const order = await claimable(store, { lanes: ["fast"], types: ["sms"], tenants: ["acme"] });

      expect(order).toEqual([urgent, rival]);
    });

    test("keeps every run in the ledger, in order (002-04)", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});

      await runOne(store, runAgain());
      await runOne(store, { ...runAgain(), outcome: "snoozed" });
      await runOne(store, failedWith());

      expect(await store.attempts(id)).toMatchObject([
        { n: 1, outcome: "interrupted" },
        { n: 2, outcome: "snoozed" },
        { n: 3, outcome: "failed" },
      ]);
      const fences = (await store.attempts(id)).map((attempt) => attempt.fence ?? 0);
      expect(fences).toEqual(fences.toSorted((a, b) => a - b));
      expect(new Set(fences).size).toBe(3);
    });

    test("settles jobs of one lease in any order and in parts", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids = await add(store, {}, {}, {}, {});
      const batch = await take(store);
      const [a, b, c, d] = [0, 1, 2, 3].map((index) => at(batch.jobs, index));

      const last = await store.settle([settleItem(batch, d!, completed("4"))]);
      const middle = await store.settle([
        settleItem(batch, c!, failedWith()),
        settleItem(batch, a!, retryIn(9)),
      ]);
      const first = await store.settle([settleItem(batch, b!, completed("2"))]);

      expect([last, middle, first]).toEqual([["settled"], ["settled", "settled"], ["settled"]]);
      const states = await Promise.all(ids.map((id) => stateOf(store, id)));
      expect(states).toEqual(["scheduled", "completed", "failed", "completed"]);
      expect((await recordOf(store, ids[1])).result).toBe("2");
      expect((await recordOf(store, ids[3])).result).toBe("4");

      // Nothing is left of the lease: there is nothing to rescue.
      await clock.advance(60_000);
      expect(await store.renew(batch.worker, 1)).toMatchObject({ cancel: [] });
      await clock.advance(60_000);
      const rescue = await rescueSilent(store, batch.worker, { decide: () => failedWith() });
      expect(rescue).toEqual({ returned: 0, settled: [], missing: [], done: true });
    });

    test("lets a worker that has settled all leave at once", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {});
      const batch = await take(store);

      await settleAll(store, batch, completed());
      await store.deregister(batch.worker);

      expect(await store.silent(10)).toEqual([]);
    });

    test("lets a worker leave at once that has settled one by one", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {}, {});
      const batch = await take(store);

      for (const job of batch.jobs) await settleAll(store, { ...batch, jobs: [job] }, completed());
      await store.deregister(batch.worker);

      expect(await store.silent(10)).toEqual([]);
    });

    test("settles two hundred jobs in one call, each its own way", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = newJobs(200);
      await store.enqueue(jobs);
      const batch = await take(store, { limit: 200 });

      const answers = await store.settle(
        batch.jobs.map((job, index) =>
          settleItem(batch, job, index % 2 ? failedWith() : completed(String(index))),
        ),
      );

      expect(answers).toEqual(batch.jobs.map(() => "settled"));
      expect((await store.count({ states: ["completed"] }, 500)).count).toBe(100);
      expect((await store.count({ states: ["failed"] }, 500)).count).toBe(100);
      expect((await recordOf(store, jobs[198]!.id)).result).toBe("198");
      expect(await store.deadLetter(jobs[199]!.id)).not.toBeNull();
    });

    test("keeps the answers of overlapping calls apart", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = newJobs(30);
      await store.enqueue(jobs);
      const batch = await take(store);
      const doubled = batch.jobs.flatMap((job) => [job, job]);

      const answers = await Promise.all(
        doubled.map((job) => store.settle([settleItem(batch, job, completed())])),
      );

      expect(answers).toEqual(doubled.map((_, index) => [index % 2 ? "stale" : "settled"]));
      expect((await store.count({ states: ["completed"] }, 100)).count).toBe(30);
    });

    test("answers an empty list with an empty list", async () => {
      await using db = await open();

      expect(await db.store.settle([])).toEqual([]);
    });

    test("refuses one that the database does not take, and harms no neighbour", async () => {
      await using db = await open();
      const { store } = db;
      const [good, bad] = await add(store, {}, {});
      const batch = await take(store);

      const answers = await store.settle([
        settleItem(batch, at(batch.jobs, 0), completed()),
        settleItem(batch, at(batch.jobs, 1), completed("{broken")),
      ]);

      expect(answers).toEqual(["settled", "refused"]);
      expect(await stateOf(store, good)).toBe("completed");
      expect(await stateOf(store, bad)).toBe("running");
      const again = await store.settle([settleItem(batch, at(batch.jobs, 1), failedWith())]);
      expect(again).toEqual(["settled"]);
    });

    test("rounds a delay that is not whole", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const batch = await take(store);

      await settleAll(store, batch, retryIn(1.4));

      expect((await recordOf(store, id)).runAt).toBe(clock.now() + 1);
    });

    test("buries a job again whose id was used once more after retention", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      await settleAll(store, await take(store), failedWith(fault({ message: "first" })));
      await clock.advance(1_000);
      await store.prune(retention({ finishedMs: ALL_AT_ONCE }), 10);
      await add(store, { id });

      await settleAll(store, await take(store), failedWith(fault({ message: "second" })));

      expect(await stateOf(store, id)).toBe("failed");
      expect((await store.deadLetter(id))?.fault.message).toBe("second");
    });
  });
}

const ALL_AT_ONCE = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
