import { describe, expect, test } from "vitest";
import type { Settlement } from "../../../src/core/outcome.ts";
import type { CrashFacts, InterveneFacts } from "../../../src/store/types/jobs-and-runs.ts";
import {
  cancelled,
  completed,
  completedWithErrors,
  crashedOnce,
  failedWith,
  fault,
  jobId,
  retryIn,
  runAgain,
} from "../../support/factories.ts";
import {
  add,
  ask,
  at,
  claimable,
  eventsOf,
  recordOf,
  rescueSilent,
  runOne,
  settleAll,
  settleItem,
  startAll,
  stateOf,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { GATE, HELD_BY_WORKER, WAITING } from "../../support/waiting.ts";
import { wakes } from "../../support/flows.ts";

const BY_HAND = fault({ name: "Operator", message: "ended by hand" });

/** What no job can have done that never began. */
const NEEDS_A_START: readonly Settlement[] = [
  completed("1"),
  completedWithErrors(1),
  crashedOnce(),
  runAgain(),
  { ...runAgain(), outcome: "snoozed" },
  { ...failedWith(), outcome: "timed_out" },
  { ...retryIn(10), fault: null },
];

export function interveneSuite(open: OpenStore): void {
  describe("intervene", () => {
    describe("on a job that waits", () => {
      test.each(WAITING)("fails a %s job: ledger, dead letter, event (004-19)", async (_, put) => {
        await using db = await open();
        const { store, clock } = db;
        const id = await put(store, { payload: '{"marker":"m4rk3r"}' });
        await clock.advance(5);

        const answer = await store.intervene(id, () => failedWith(BY_HAND));

        expect(answer).toEqual({ status: "done", state: "failed" });
        expect(await recordOf(store, id)).toMatchObject({
          state: "failed",
          runAt: null,
          attempts: 1,
          startedAt: null,
          finishedAt: clock.now(),
          fault: BY_HAND,
          heldBy: null,
        });
        expect(await store.attempts(id)).toEqual([
          {
            n: 1,
            tries: 1,
            crashes: 0,
            fence: null,
            worker: null,
            claimedAt: null,
            startedAt: null,
            finishedAt: clock.now(),
            outcome: "failed",
            errorClass: "retryable",
            fault: BY_HAND,
            reason: null,
            nextRunAt: null,
          },
        ]);
        const letter = await store.deadLetter(id);
        expect(letter).toMatchObject({ id, status: "pending_review", fault: BY_HAND, attempts: 1 });
        expect(letter?.spec).toContain("m4rk3r");
        expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:failed"]);
      });

      test.each(WAITING)("keeps a failed %s job from ever running", async (_, put) => {
        await using db = await open();
        const { store, clock } = db;
        const id = await put(store);

        await store.intervene(id, () => failedWith());
        await clock.advance(120_000);
        await store.promote(100);
        await store.resume(GATE);
        await store.release(100);

        expect(await claimable(store)).toEqual([]);
        expect(await stateOf(store, id)).toBe("failed");
      });

      test.each(WAITING)("charges a %s job and lets it wait on (004-18)", async (_, put) => {
        await using db = await open();
        const { store, clock } = db;
        const id = await put(store);
        await clock.advance(5);
        const dueAt = clock.now() + 500;

        const answer = await store.intervene(id, () => retryIn(500));

        expect(answer).toEqual({ status: "done", state: "scheduled" });
        expect(await recordOf(store, id)).toMatchObject({
          state: "scheduled",
          runAt: dueAt,
          attempts: 1,
          heldBy: null,
        });
        expect(await store.attempts(id)).toMatchObject([
          { n: 1, fence: null, startedAt: null, outcome: "failed", nextRunAt: dueAt },
        ]);
        expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:retrying"]);
        expect(await store.deadLetter(id)).toBeNull();
        await store.resume(GATE);
        await clock.advance(500);
        await store.promote(10);
        const { jobs } = await take(store);
        expect(jobs).toMatchObject([{ id, n: 2, tries: 1 }]);
      });

      test("puts a job back at once when the decision says so, and wakes listeners", async () => {
        await using db = await open();
        const { store } = db;
        const [id] = await add(store, { due: { delayMs: 600_000 } });

        await wakes(db, async () => {
          const answer = await store.intervene(id, () => ({ ...retryIn(0), to: "queued" }));
          expect(answer).toEqual({ status: "done", state: "queued" });
        });

        expect(await claimable(store)).toEqual([id]);
      });

      test.each(WAITING)("cancels a %s job without a dead letter", async (_, put) => {
        await using db = await open();
        const { store } = db;
        const id = await put(store);

        const answer = await store.intervene(id, () => cancelled("not needed"));

        expect(answer).toEqual({ status: "done", state: "cancelled" });
        expect(await recordOf(store, id)).toMatchObject({ cancelReason: "not needed" });
        expect(await store.deadLetter(id)).toBeNull();
        expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:cancelled"]);
      });

      test("writes the row of the run that would have come next", async () => {
        await using db = await open();
        const { store } = db;
        const [id] = await add(store, {});
        await runOne(store, retryIn(1_000));

        await store.intervene(id, (job) => ({ ...failedWith(), tries: job.tries + 1 }));

        expect(await recordOf(store, id)).toMatchObject({ state: "failed", attempts: 2 });
        expect(await store.attempts(id)).toMatchObject([{ n: 1 }, { n: 2, startedAt: null }]);
      });
    });

    describe("on a job that a worker has", () => {
      test("ends the run under its lease (004-19)", async () => {
        await using db = await open();
        const { store, clock } = db;
        const [id] = await add(store, {});
        const { lease, worker } = await takeOne(store);
        const startedAt = clock.now();
        await clock.advance(50);

        const answer = await store.intervene(id, () => failedWith(BY_HAND));

        expect(answer).toEqual({ status: "done", state: "failed" });
        expect(await store.attempts(id)).toMatchObject([
          {
            n: 1,
            fence: lease.number,
            worker,
            claimedAt: startedAt,
            startedAt,
            finishedAt: clock.now(),
            outcome: "failed",
            fault: BY_HAND,
          },
        ]);
        expect(await store.deadLetter(id)).toMatchObject({ fault: BY_HAND });
        expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:started", "job:failed"]);
      });

      test("completes a run that has begun", async () => {
        await using db = await open();
        const { store } = db;
        const [id] = await add(store, {});
        await takeOne(store);

        const answer = await store.intervene(id, () => completed('{"by":"hand"}'));

        expect(answer).toEqual({ status: "done", state: "completed" });
        expect(await recordOf(store, id)).toMatchObject({ result: '{"by":"hand"}' });
      });

      test("makes what the worker says later stale (I5)", async () => {
        await using db = await open();
        const { store } = db;
        const [id, other] = await add(store, { priority: 1 }, { priority: 2 });
        const batch = await take(store);
        await store.intervene(id, () => failedWith(BY_HAND));
        const before = await recordOf(store, id);

        const answers = await store.settle(
          batch.jobs.map((job) => settleItem(batch, job, completed("1"))),
        );

        expect(answers).toEqual(["stale", "settled"]);
        expect(await recordOf(store, id)).toEqual(before);
        expect(await store.attempts(id)).toHaveLength(1);
        expect(await stateOf(store, other)).toBe("completed");
      });

      test("gives the job to the next worker while the former one still runs it", async () => {
        await using db = await open();
        const { store } = db;
        const [id] = await add(store, {});
        const former = await takeOne(store);

        const answer = await store.intervene(id, () => runAgain());

        expect(answer).toEqual({ status: "done", state: "queued" });
        const next = await takeOne(store);
        expect(next.job).toMatchObject({ id, n: 2, tries: 0 });
        expect(await store.settle([settleItem(former, former.job, completed("1"))])).toEqual([
          "stale",
        ]);
        await settleAll(store, next, completed("2"));
        expect((await recordOf(store, id)).result).toBe("2");
      });

      test("returns a prefetched job, which then can neither begin nor go twice", async () => {
        await using db = await open();
        const { store } = db;
        const [id] = await add(store, {});
        const batch = await take(store, { prefetch: true });
        const keys = batch.jobs.map(({ key }) => key);

        const answer = await store.intervene(id, () => runAgain());

        expect(answer).toEqual({ status: "done", state: "queued" });
        expect(await store.startPrefetched(batch.lease, keys)).toMatchObject({ begun: [] });
        expect(await store.returnPrefetched(batch.lease, keys)).toBe(0);
        expect((await takeOne(store)).job).toMatchObject({ id, n: 2, tries: 0 });
      });

      test("ends a job in a prefetch, which then can neither begin nor go back", async () => {
        await using db = await open();
        const { store } = db;
        const [id, other] = await add(store, { priority: 1 }, { priority: 2 });
        const batch = await take(store, { prefetch: true });
        const keys = batch.jobs.map(({ key }) => key);

        const answer = await store.intervene(id, () => failedWith(BY_HAND));

        expect(answer).toEqual({ status: "done", state: "failed" });
        expect(await store.attempts(id)).toMatchObject([
          { n: 1, fence: batch.lease.number, worker: batch.worker, startedAt: null },
        ]);
        expect(await store.returnPrefetched(batch.lease, [at(keys, 0)])).toBe(0);
        expect(await startAll(store, batch)).toEqual({ status: "started", begun: [at(keys, 1)] });
        expect(
          await store.settle(batch.jobs.map((job) => settleItem(batch, job, completed()))),
        ).toEqual(["stale", "settled"]);
        expect(await stateOf(store, id)).toBe("failed");
        expect(await stateOf(store, other)).toBe("completed");
      });

      test("ends the present run of a job that an older lease names, too", async () => {
        await using db = await open();
        const { store } = db;
        const [id] = await add(store, { priority: 1 }, { priority: 2 });
        const former = await take(store);
        await store.settle([settleItem(former, at(former.jobs, 0), runAgain())]);
        const present = await takeOne(store);

        await store.intervene(id, () => failedWith());

        expect(await store.attempts(id)).toMatchObject([
          { n: 1, fence: former.lease.number, outcome: "interrupted" },
          { n: 2, fence: present.lease.number, worker: present.worker, outcome: "failed" },
        ]);
      });

      test("leaves no lease, so that the worker can leave at once", async () => {
        await using db = await open();
        const { store } = db;
        const [id] = await add(store, {});
        const { worker } = await takeOne(store);

        await store.intervene(id, () => failedWith());

        await store.deregister(worker);
        expect(await store.workers(10)).toEqual([]);
      });

      test("leaves nothing of the run to the rescuer", async () => {
        await using db = await open();
        const { store, clock } = db;
        const [ended, lost] = await add(store, {}, {});
        const { worker } = await take(store);
        await store.intervene(ended, () => failedWith());
        await clock.advance(30_001);

        const rescue = await rescueSilent(store, worker, { decide: crashedOnce });

        expect(rescue.settled).toEqual([{ id: lost, to: "queued" }]);
        expect(await store.attempts(ended)).toHaveLength(1);
      });

      test.each(HELD_BY_WORKER)(
        "never sends a %s job back that was to be cancelled",
        async (_, put) => {
          await using db = await open();
          const { store } = db;
          const id = await put(store);
          await store.cancel(id, "ada", "wrong address");

          const answer = await store.intervene(id, () => retryIn(0));

          expect(answer).toEqual({ status: "done", state: "cancelled" });
          expect(await recordOf(store, id)).toMatchObject({
            state: "cancelled",
            cancelReason: "wrong address",
            cancelRequested: false,
          });
          expect((await eventsOf(store, id)).at(-1)).toBe("job:cancelled");
          expect(await claimable(store)).toEqual([]);
        },
      );

      test("lets a failure stand though a cancellation was asked for", async () => {
        await using db = await open();
        const { store } = db;
        const [id] = await add(store, {});
        await takeOne(store);
        await store.cancel(id, null, null);

        const answer = await store.intervene(id, () => failedWith());

        expect(answer).toEqual({ status: "done", state: "failed" });
        expect((await recordOf(store, id)).cancelRequested).toBe(false);
      });
    });

    test.each([...WAITING, ...HELD_BY_WORKER])(
      "hands the decision the facts of a %s job",
      async (name, put) => {
        await using db = await open();
        const { store } = db;
        const id = await put(store, {
          maxAttempts: 7,
          onOrphan: "fail",
          retryOwner: "supervisor",
        });
        const asked: InterveneFacts[] = [];

        await store.intervene(id, (job) => {
          asked.push(job);
          return failedWith();
        });

        expect(asked).toEqual([
          {
            id,
            type: "email",
            tries: 0,
            crashes: 0,
            maxAttempts: 7,
            onOrphan: "fail",
            retryOwner: "supervisor",
            isHeld: HELD_BY_WORKER.some(([held]) => held === name),
            hasStarted: name === "running",
          },
        ]);
      },
    );

    test("tells the decision what was charged before, of a wait and of a run", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      await runOne(store, crashedOnce());
      const asked: CrashFacts[] = [];
      const decide = (job: CrashFacts): Settlement => {
        asked.push(job);
        return { ...retryIn(0), tries: job.tries + 1, crashes: job.crashes };
      };

      await store.intervene(id, decide);
      await takeOne(store);
      await store.intervene(id, decide);

      expect(asked).toMatchObject([
        { tries: 1, crashes: 1 },
        { tries: 2, crashes: 1 },
      ]);
      expect(await recordOf(store, id)).toMatchObject({ attempts: 3, crashes: 1 });
    });

    test("tells whether the lease of the worker is alive", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [held, silent, waiting] = await add(store, { priority: 1 }, { priority: 2 }, {});
      await takeOne(store);
      await takeOne(store);
      const told: boolean[] = [];
      const decide = ({ isHeld }: InterveneFacts): Settlement => {
        told.push(isHeld);
        return failedWith();
      };

      await store.intervene(waiting, decide);
      await store.intervene(held, decide);
      await clock.advance(30_001);
      await store.intervene(silent, decide);

      expect(told).toEqual([false, true, false]);
    });

    test.each([...WAITING, ...HELD_BY_WORKER])(
      "frees the dedup key of a %s job that ends, not of one that goes on",
      async (_, put) => {
        await using db = await open();
        const { store } = db;
        const dedup = { key: "once", onConflict: "skip" } as const;
        const id = await put(store, { dedup });

        await store.intervene(id, () => retryIn(60_000));
        expect(await ask(store, { dedup })).toMatchObject({ status: "existing", by: "dedup" });
        await store.intervene(id, () => ({ ...failedWith(), tries: 2 }));

        expect(await ask(store, { dedup })).toMatchObject({ status: "created" });
      },
    );

    describe.each(NEEDS_A_START)("with a $outcome run that ends in $to", (settlement) => {
      // What lies in a prefetch can be interrupted; nothing else can be said of it.
      const buffered = settlement.outcome === "interrupted" ? [] : HELD_BY_WORKER.slice(1);
      test.each([...WAITING, ...buffered])(
        "is refused for a %s job, which stays where it is",
        async (_, put) => {
          await using db = await open();
          const { store } = db;
          const id = await put(store);
          const before = await recordOf(store, id);

          await expect(store.intervene(id, () => settlement)).rejects.toMatchObject({
            code: "STORE_REFUSED",
          });

          expect(await recordOf(store, id)).toEqual(before);
          expect(await store.attempts(id)).toEqual([]);
          expect(await eventsOf(store, id)).toEqual(["job:enqueued"]);
        },
      );
    });

    test.each([...WAITING, ...HELD_BY_WORKER])(
      "changes nothing of a %s job when the decision throws",
      async (_, put) => {
        await using db = await open();
        const { store } = db;
        const id = await put(store);
        const before = await recordOf(store, id);

        const undecided = store.intervene(id, () => {
          throw new Error("undecided");
        });

        await expect(undecided).rejects.toThrow("undecided");
        expect(await recordOf(store, id)).toEqual(before);
      },
    );

    test.each([completed(), completedWithErrors(1), failedWith(), cancelled()])(
      "leaves a job alone that has ended as $to, unasked",
      async (settlement) => {
        await using db = await open();
        const { store } = db;
        const [id] = await add(store, {});
        await runOne(store, settlement);
        let asked = 0;

        const answer = await store.intervene(id, () => {
          asked += 1;
          return failedWith();
        });

        expect(answer).toEqual({ status: "final", state: settlement.to });
        expect(asked).toBe(0);
        expect(await store.attempts(id)).toHaveLength(1);
      },
    );

    test("does not know a job that never was", async () => {
      await using db = await open();

      const answer = await db.store.intervene(jobId(), () => failedWith());

      expect(answer).toEqual({ status: "unknown" });
    });

    test("ends a job once when two handles do it at once", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      const [id] = await add(store, {});
      await takeOne(store);

      const answers = await Promise.all(
        [store, other].map((handle) => handle.intervene(id, () => failedWith())),
      );

      expect(answers.map(({ status }) => status).toSorted()).toEqual(["done", "final"]);
      expect(await store.attempts(id)).toHaveLength(1);
    });
  });
}
