import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import {
  cancelled,
  completed,
  completedWithErrors,
  failedWith,
  jobId,
  retryIn,
} from "../../support/factories.ts";
import {
  add,
  claimable,
  eventsOf,
  recordOf,
  runOne,
  settleAll,
  stateOf,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const GATE = { kind: "type", name: "email" } as const;

/** Puts a job into each place where it can wait. */
const WAITING: readonly (readonly [string, (store: JobStore) => Promise<JobId>])[] = [
  ["scheduled", async (store) => (await add(store, { due: { delayMs: 10 } }))[0]],
  ["queued", async (store) => (await add(store, {}))[0]],
  ["held", addHeld],
];

export function cancelSuite(open: OpenStore): void {
  describe("cancel", () => {
    test.each(WAITING)("ends a %s job at once, uncharged (001-29)", async (_, wait) => {
      await using db = await open();
      const { store, clock } = db;
      const id = await wait(store);
      await clock.advance(5);

      const answer = await store.cancel(id, "ada", "wrong address");

      expect(answer).toEqual({ status: "cancelled" });
      expect(await recordOf(store, id)).toMatchObject({
        state: "cancelled",
        runAt: null,
        attempts: 0,
        startedAt: null,
        finishedAt: clock.now(),
        cancelReason: "wrong address",
        heldBy: null,
        cancelRequested: false,
      });
      expect(await store.attempts(id)).toMatchObject([
        {
          n: 1,
          fence: null,
          worker: null,
          claimedAt: null,
          startedAt: null,
          finishedAt: clock.now(),
          outcome: "cancelled",
          reason: "wrong address",
          nextRunAt: null,
        },
      ]);
      expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:cancelled"]);
    });

    test.each(WAITING)("keeps a %s job from ever running", async (_, wait) => {
      await using db = await open();
      const { store, clock } = db;
      const id = await wait(store);

      await store.cancel(id, null, null);
      await clock.advance(60_000);
      await store.promote(100);
      await store.resume(GATE);
      await store.release(100);

      expect(await claimable(store)).toEqual([]);
      expect(await stateOf(store, id)).toBe("cancelled");
    });

    test("ends a job between two of its runs, and keeps what they were charged", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      await runOne(store, retryIn(1_000));

      const answer = await store.cancel(id, null, null);

      expect(answer).toEqual({ status: "cancelled" });
      expect(await recordOf(store, id)).toMatchObject({ state: "cancelled", attempts: 1 });
      expect(await store.attempts(id)).toMatchObject([
        { n: 1, outcome: "failed" },
        { n: 2, outcome: "cancelled", startedAt: null },
      ]);
    });

    test("asks the worker of a running job to stop, and leaves the job running", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const { worker, job } = await takeOne(store);

      const answer = await store.cancel(id, "ada", "wrong address");

      expect(answer).toEqual({ status: "requested" });
      expect(await recordOf(store, id)).toMatchObject({ state: "running", cancelRequested: true });
      expect(await store.attempts(id)).toEqual([]);
      expect(await store.renew(worker, 30_000)).toMatchObject({
        cancel: [{ key: job.key, reason: "wrong address" }],
      });
    });

    test("lets the worker end the job, with one event (001-29)", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store);
      await store.cancel(id, "ada", "wrong address");

      await settleAll(store, batch, cancelled("wrong address"));

      expect(await recordOf(store, id)).toMatchObject({
        state: "cancelled",
        cancelRequested: false,
      });
      expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:started", "job:cancelled"]);
    });

    test("accepts the success of a job that was faster than the request", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store);
      await store.cancel(id, null, null);

      await settleAll(store, batch, completed("1"));

      expect(await recordOf(store, id)).toMatchObject({
        state: "completed",
        result: "1",
        cancelRequested: false,
      });
      expect(await store.cancel(id, null, null)).toEqual({ status: "final", state: "completed" });
    });

    test.each([completed(), completedWithErrors(1), failedWith(), cancelled()])(
      "leaves a job alone that has ended as $to, and says so",
      async (settlement) => {
        await using db = await open();
        const { store } = db;
        const [id] = await add(store, {});
        await runOne(store, settlement);
        const before = [await recordOf(store, id), await store.attempts(id)];

        const answer = await store.cancel(id, null, null);

        expect(answer).toEqual({ status: "final", state: settlement.to });
        expect([await recordOf(store, id), await store.attempts(id)]).toEqual(before);
        expect(await eventsOf(store, id)).toHaveLength(3);
      },
    );

    test("does not know a job that never was", async () => {
      await using db = await open();

      expect(await db.store.cancel(jobId(), null, null)).toEqual({ status: "unknown" });
    });

    test("changes nothing when it is repeated", async () => {
      await using db = await open();
      const { store } = db;
      const [running, waiting] = await add(store, { priority: 1 }, { priority: 2 });
      const { worker } = await takeOne(store);

      const answers = [];
      for (const id of [waiting, running]) {
        answers.push(await store.cancel(id, null, "enough"));
        answers.push(await store.cancel(id, null, "more than enough"));
      }

      expect(answers).toEqual([
        { status: "cancelled" },
        { status: "final", state: "cancelled" },
        { status: "requested" },
        { status: "requested" },
      ]);
      expect(await store.attempts(waiting)).toHaveLength(1);
      expect(await eventsOf(store, waiting)).toEqual(["job:enqueued", "job:cancelled"]);
      const renewal = await store.renew(worker, 30_000);
      expect(renewal).toMatchObject({ cancel: [{ reason: "enough" }] });
    });

    test("ends a job once when two handles cancel it at once", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      const [id] = await add(store, {});

      const answers = await Promise.all([
        store.cancel(id, null, null),
        other.cancel(id, null, null),
      ]);

      const statuses = answers.map((answer) => answer.status);
      expect(statuses.toSorted()).toEqual(["cancelled", "final"]);
      expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:cancelled"]);
    });
  });
}

async function addHeld(store: JobStore): Promise<JobId> {
  const [id] = await add(store, {});
  await store.pause(GATE, { reason: "maintenance", by: null });
  await store.hold(100);
  return id;
}
