/** Code that outlives its run: no successor of the job starts before the code has ended. */
import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { NewJob, WorkerId } from "../../../src/store/types/jobs-and-runs.ts";
import {
  cancelled,
  completed,
  failedWith,
  newJob,
  newOperation,
  retention,
  runAgain,
} from "../../support/factories.ts";
import { freed, stays, swept } from "../../support/flows.ts";
import {
  add,
  claimable,
  joinWorker,
  rescueSilent,
  settleAll,
  takeOne,
  type Batch,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const LEASE_MS = 60_000;

export function reportCodeSuite(open: OpenStore): void {
  describe("reportCode", () => {
    failedJobs(open);
    leftCode(open);
    removals(open);
    reports(open);
  });
}

function failedJobs(open: OpenStore): void {
  describe("a successor of a job that an operator has failed (C-33)", () => {
    test("waits until the worker reports the end of its code", async () => {
      await using db = await open();
      const { store } = db;
      const { worker, run, id } = await failedOutside(store);
      const next = await repeat(store, id);
      expect(await claimable(store)).toEqual([]);
      expect(await store.resolveDependencies(100)).toBe(0);
      expect(await claimable(store)).toEqual([]);

      await store.reportCode(worker, { ended: [run] });

      await freed(store, next);
      expect(await claimable(store)).toEqual([next]);
    });

    test("waits also if dependants of the job are resolved meanwhile", async () => {
      await using db = await open();
      const { store } = db;
      const { id } = await failedOutside(store);
      await repeat(store, id);
      const [other] = await add(store, { after: [id], onFailed: "run" });
      await freed(store, other);
      await store.resolveDependencies(100);

      expect(await claimable(store)).toEqual([other]);
    });

    test("does not wait for the code of other runs", async () => {
      await using db = await open();
      const { store } = db;
      const [first, second] = [await failedOutside(store), await failedOutside(store)];
      await repeat(store, first.id);
      const next = await repeat(store, second.id);
      await store.reportCode(first.worker, { ended: [{ ...first.run, n: 2 }] });
      await store.reportCode(first.worker, { ended: [second.run] });
      await stays(store, next);
      await store.reportCode(second.worker, { ended: [second.run] });
      await freed(store, next);
      await store.resolveDependencies(100);

      expect(await claimable(store)).toEqual([next]);
    });

    test("starts at once if the code has ended before", async () => {
      await using db = await open();
      const { store } = db;
      const { worker, run, id } = await failedOutside(store);
      await store.reportCode(worker, { ended: [run] });
      const next = await repeat(store, id);

      expect(await claimable(store)).toEqual([next]);
    });

    test("starts at once if the run had not started", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      await takeOne(store, { prefetch: true });
      await store.intervene(id, () => failedWith());
      const next = await repeat(store, id);

      expect(await claimable(store)).toEqual([next]);
    });

    test("starts when the worker is deregistered", async () => {
      await using db = await open();
      const { store } = db;
      const { worker, id } = await failedOutside(store);
      const next = await repeat(store, id);
      await store.deregister(worker);

      await freed(store, next);
      expect(await claimable(store)).toEqual([next]);
    });

    test("starts when the worker is rescued, and not when its lease expires", async () => {
      await using db = await open();
      const { store, clock } = db;
      const { worker, id } = await failedOutside(store);
      const next = await repeat(store, id);
      await clock.advance(LEASE_MS + 1);
      await store.resolveDependencies(100);
      expect(await claimable(store)).toEqual([]);

      await rescueSilent(store, worker, { decide: () => runAgain() });

      await freed(store, next);
      expect(await claimable(store)).toEqual([next]);
    });

    test("waits for the code of every run of the job", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const first = await takeOne(store, { worker: await joinWorker(store) });
      await store.intervene(id, () => runAgain());
      const second = await takeOne(store, { worker: await joinWorker(store) });
      await store.intervene(id, () => failedWith());
      const next = await repeat(store, id);

      await store.reportCode(second.worker, { ended: [runOf(second)] });
      await store.resolveDependencies(100);
      expect(await claimable(store)).toEqual([]);
      await store.reportCode(first.worker, { ended: [runOf(first)] });

      await freed(store, next);
      expect(await claimable(store)).toEqual([next]);
    });

    test("waits for the code of all jobs of its chain", async () => {
      await using db = await open();
      const { store } = db;
      const { worker, run, id } = await failedOutside(store);
      const second = await repeat(store, id);
      await store.intervene(second, () => failedWith());
      const third = await repeat(store, second);
      await store.intervene(third, () => failedWith());
      const fourth = await repeat(store, third);
      expect(await claimable(store)).toEqual([]);
      await store.reportCode(worker, { ended: [run] });

      await freed(store, fourth);
      expect(await claimable(store)).toEqual([fourth]);
    });

    test("waits for the code of another successor of the same job", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      await settleAll(store, await takeOne(store), completed());
      const successor = await repeat(store, id);
      const batch = await takeOne(store, { worker: await joinWorker(store) });
      await store.intervene(successor, () => failedWith());
      const next = await repeat(store, id);
      expect(await claimable(store)).toEqual([]);
      await store.reportCode(batch.worker, { ended: [runOf(batch)] });

      await freed(store, next);
      expect(await claimable(store)).toEqual([next]);
    });

    test("can be cancelled, failed and hurried while it waits", async () => {
      await using db = await open();
      const { store } = db;
      const { id } = await failedOutside(store);
      const next = await repeat(store, id);
      expect(await store.hurry(next)).toMatchObject({ status: "done" });
      expect(await claimable(store)).toEqual([]);
      expect(await store.cancel(next, "ada", null)).toEqual({ status: "cancelled" });
      const again = await repeat(store, id);
      expect(await store.intervene(again, () => failedWith())).toMatchObject({ state: "failed" });
    });
  });
}

function leftCode(open: OpenStore): void {
  describe("a successor of a job whose worker has left code behind (C-33)", () => {
    test.each([
      ["failed", failedWith()],
      ["was cancelled", cancelled()],
    ] as const)("waits for the code if the job %s", async (_, settlement) => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store, { worker: await joinWorker(store) });
      await store.reportCode(batch.worker, { left: [runOf(batch)] });
      await store.reportCode(batch.worker, { left: [runOf(batch)] });
      await settleAll(store, batch, settlement);
      const next = await repeat(store, id);
      expect(await claimable(store)).toEqual([]);
      await store.reportCode(batch.worker, { ended: [runOf(batch)] });

      await freed(store, next);
      expect(await claimable(store)).toEqual([next]);
    });

    test("does not wait for a worker that is not registered", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store);
      await settleAll(store, batch, failedWith());
      await store.deregister(batch.worker);
      await store.reportCode(batch.worker, { left: [runOf(batch)] });
      const next = await repeat(store, id);

      expect(await claimable(store)).toEqual([next]);
    });
  });
}

function removals(open: OpenStore): void {
  describe("a job whose code goes on (C-33)", () => {
    test.each([
      ["retention", prunedByRetention],
      ["a sweep that names it", removedByKey],
      ["an operator", deletedByOperator],
    ] as const)("is not removed by %s before the code has ended", async (_, removeIt) => {
      await using db = await open();
      const { store, clock } = db;
      const { worker, run, id } = await failedOutside(store);
      await clock.advance(HOUR + 1);
      await removeIt(store, id, run.key);
      const next = await repeat(store, id);
      expect(await claimable(store)).toEqual([]);
      await store.reportCode(worker, { ended: [run] });
      await freed(store, next);
      await clock.advance(HOUR + 1);
      await removeIt(store, id, run.key);

      expect(await claimable(store)).toEqual([next]);
      expect(await store.get(id)).toBeNull();
    });

    test("keeps the jobs that stand between it and a later successor", async () => {
      await using db = await open();
      const { store, clock } = db;
      const { worker, run, id } = await failedOutside(store);
      const second = await repeat(store, id);
      await store.intervene(second, () => failedWith());
      const third = await repeat(store, second);
      await store.intervene(third, () => failedWith());
      await clock.advance(HOUR + 1);
      for (const each of [second, third]) await deletedByOperator(store, each);
      await prunedByRetention(store);
      const fourth = await repeat(store, third);
      expect(await claimable(store)).toEqual([]);
      await store.reportCode(worker, { ended: [run] });

      await freed(store, fourth);
      expect(await claimable(store)).toEqual([fourth]);
    });

    test("is found from a removed job that it repeats", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [original] = await add(store, {});
      await settleAll(store, await takeOne(store), failedWith());
      const copy = await repeat(store, original);
      await clock.advance(HOUR + 1);
      await deletedByOperator(store, original);
      expect(await store.get(original)).toBeNull();
      const worker = await joinWorker(store, { leaseMs: LEASE_MS });
      const batch = await takeOne(store, { worker });
      await store.intervene(copy, () => failedWith());
      const next = await repeat(store, original);
      expect(await claimable(store)).toEqual([]);
      await store.reportCode(worker, { ended: [runOf(batch)] });

      await freed(store, next);
      expect(await claimable(store)).toEqual([next]);
    });
  });
}

const HOUR = 3_600_000;

async function prunedByRetention(store: JobStore): Promise<void> {
  await store.prune(retention({ deadLetterMs: 10 * HOUR }), 100);
}

async function removedByKey(store: JobStore, _: JobId, key: number): Promise<void> {
  await store.remove([key], retention());
}

async function deletedByOperator(store: JobStore, id: JobId): Promise<void> {
  const { id: operation } = await store.startOperation(
    newOperation({ action: "delete", ids: [id] }),
  );
  const runner = "runner-1";
  const held = await store.claimOperations(runner);
  const { cursor } = held.find((each) => each.id === operation)!;
  const chunk = { runner, from: cursor, to: null, items: [{ id }], idempotencyMs: 0 };
  await store.applyChunk(operation, chunk);
}

function reports(open: OpenStore): void {
  describe("a report", () => {
    test("is shown: which job a successor waits for, and where its code goes on", async () => {
      await using db = await open();
      const { store } = db;
      const { worker, id } = await failedOutside(store);
      const next = await repeat(store, id);

      expect(await store.openDependencies(next, 10)).toEqual([id]);
      expect(await store.dependants(id, 10)).toEqual([next]);
      expect(await store.holder(id)).toMatchObject({ id: worker, until: expect.any(Number) });
      expect(await store.get(next)).toMatchObject({ state: "queued", heldBy: { kind: "after" } });
    });

    test("ends what heartbeats tell", async () => {
      await using db = await open();
      const { store } = db;
      const { worker, run } = await failedOutside(store);
      expect(await store.renew(worker, LEASE_MS)).toMatchObject({ ended: [run] });
      expect(await store.renew(worker, LEASE_MS)).toMatchObject({ ended: [run] });

      await store.reportCode(worker, { ended: [run] });

      expect(await store.renew(worker, LEASE_MS)).toMatchObject({ ended: [] });
    });

    test("leaves a successor whose code has ended unnoticed to the sweep", async () => {
      await using db = await open();
      const { store } = db;
      const { worker, run, id } = await failedOutside(store);
      const [next] = await Promise.all([
        repeat(store, id),
        store.reportCode(worker, { ended: [run] }),
      ]);

      await swept(store, next);
      expect(await claimable(store)).toEqual([next]);
    });
  });
}

/** A running job that an operator fails. Its worker has not reported the end of its code. */
async function failedOutside(
  store: JobStore,
): Promise<{ worker: WorkerId; run: { key: number; n: number }; id: JobId }> {
  const [id] = await add(store, {});
  const worker = await joinWorker(store, { leaseMs: LEASE_MS });
  const batch = await takeOne(store, { worker });
  await store.intervene(id, () => failedWith());
  return { worker, run: runOf(batch), id };
}

function runOf({ job: { key, n } }: Batch & { job: { key: number; n: number } }): {
  key: number;
  n: number;
} {
  return { key, n };
}

async function repeat(
  store: JobStore,
  retryOf: JobId,
  overrides: Partial<NewJob> = {},
): Promise<JobId> {
  const job = newJob({ retryOf, ...overrides });
  expect(await store.enqueue([job])).toMatchObject([{ status: "created" }]);
  return job.id;
}
