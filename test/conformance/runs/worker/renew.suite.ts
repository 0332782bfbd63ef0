/** What a heartbeat tells its worker: cancel requests, and runs that an operator has ended. */
import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../../src/store/store.ts";
import type { ClaimedJob, WorkerId } from "../../../../src/store/types/jobs-and-runs.ts";
import {
  completed,
  failedWith,
  newJobs,
  runAgain,
  workerInfo,
} from "../../../support/factories.ts";
import {
  add,
  at,
  joinWorker,
  rescueSilent,
  settleItem,
  startAll,
  take,
  takeOne,
  type Batch,
} from "../../../support/steps.ts";
import type { OpenStore } from "../../../support/stores.ts";

const LEASES = 5;
const JOBS_PER_LEASE = 4;
const MINUTE_MS = 60_000;

export function renewSuite(open: OpenStore): void {
  describe("renew stores the vitals of the worker", () => {
    test("of its last renewal, and keeps what a renewal does not know", async () => {
      await using db = await open();
      const { store } = db;
      const id = await joinWorker(store);
      const other = await joinWorker(store);
      const seen = async (worker: WorkerId) => {
        const found = (await store.workers(10)).find((each) => each.id === worker);
        return [found?.memoryBytes, found?.loopLagMs];
      };
      expect(await seen(id)).toEqual([null, null]);

      await store.renew(id, 1_000, { memoryBytes: 5_000_000_000, loopLagMs: 13 });
      expect(await seen(id)).toEqual([5_000_000_000, 13]);
      await store.renew(id, 1_000, { memoryBytes: 80_000_000, loopLagMs: null });
      expect(await seen(id)).toEqual([80_000_000, 13]);
      await store.renew(id, 1_000, { memoryBytes: 81_000_000, loopLagMs: 0 });
      expect(await seen(id)).toEqual([81_000_000, 0]);
      await store.renew(id, 1_000);

      expect(await seen(id)).toEqual([81_000_000, 0]);
      expect(await seen(other)).toEqual([null, null]);
    });
  });

  describe("renew tells cancel requests", () => {
    test("of every job of every lease, in the order of the leases", async () => {
      await using db = await open();
      const { store } = db;
      const { worker, jobs } = await takeLeases(store);

      for (const { id } of jobs.toReversed()) await store.cancel(id, "ada", `stop ${id}`);

      const told = jobs.map(({ key, n, id }) => ({ key, n, reason: `stop ${id}` }));
      expect(await store.renew(worker, 1_000)).toMatchObject({ cancel: told });
    });

    test.each(range(LEASES * JOBS_PER_LEASE))("of job %i of the worker alone", async (index) => {
      await using db = await open();
      const { store } = db;
      const { worker, jobs } = await takeLeases(store);
      const { key, n, id } = at(jobs, index);

      await store.cancel(id, null, null);

      const told = [{ key, n, reason: null }];
      expect(await store.renew(worker, 1_000)).toMatchObject({ cancel: told });
    });
  });

  describe("renew tells the runs that an operator has ended", () => {
    test.each([0, 1, 2])("when run %i of a batch was ended", async (index) => {
      await using db = await open();
      const { store } = db;
      const batch = await takeThree(store);
      await store.intervene(at(batch.jobs, index).id, () => runAgain());

      expect(await endedRuns(store, batch.worker)).toEqual([nameOf(batch, index)]);
    });

    test.each([0, 1, 2])("when a neighbour of run %i has settled before", async (index) => {
      await using db = await open();
      const { store } = db;
      const batch = await takeThree(store);
      await store.intervene(at(batch.jobs, index).id, () => runAgain());
      await settleOne(store, batch, (index + 1) % 3);

      expect(await endedRuns(store, batch.worker)).toEqual([nameOf(batch, index)]);
    });

    test.each([0, 1, 2])("when all neighbours of run %i have settled before", async (index) => {
      await using db = await open();
      const { store } = db;
      const batch = await takeThree(store);
      await store.intervene(at(batch.jobs, index).id, () => failedWith());
      const others = [0, 1, 2].filter((other) => other !== index);
      for (const other of others) await settleOne(store, batch, other);

      expect(await endedRuns(store, batch.worker)).toEqual([nameOf(batch, index)]);
    });

    test.each([0, 1, 2])("when all neighbours of run %i settle with errors", async (index) => {
      await using db = await open();
      const { store } = db;
      const batch = await takeThree(store);
      await store.intervene(at(batch.jobs, index).id, () => runAgain());
      const others = batch.jobs.filter((_, other) => other !== index);
      await store.settle(others.map((job) => settleItem(batch, job, failedWith())));

      expect(await endedRuns(store, batch.worker)).toEqual([nameOf(batch, index)]);
    });

    test.each([0, 1, 2])("when prefetched neighbours of run %i were returned", async (index) => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(3));
      const batch = await take(store, { prefetch: true });
      const { key, id } = at(batch.jobs, index);
      await store.startPrefetched(batch.lease, [key]);
      await store.intervene(id, () => runAgain());
      const keys = batch.jobs.map((job) => job.key);
      expect(await store.returnPrefetched(batch.lease, keys)).toBe(2);

      expect(await endedRuns(store, batch.worker)).toEqual([nameOf(batch, index)]);
    });

    test.each([0, 1, 2])("when the lease of run %i was narrowed", async (index) => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(3));
      const batch = await take(store, { prefetch: true });
      const [own, neighbour, returned] = [index, (index + 1) % 3, (index + 2) % 3];
      const started = [own, neighbour].map((each) => at(batch.jobs, each).key);
      await store.startPrefetched(batch.lease, started);
      await store.intervene(at(batch.jobs, own).id, () => runAgain());
      await store.returnPrefetched(batch.lease, [at(batch.jobs, returned).key]);

      expect(await endedRuns(store, batch.worker)).toEqual([nameOf(batch, own)]);
      await settleOne(store, batch, neighbour);
      expect(await endedRuns(store, batch.worker)).toEqual([nameOf(batch, own)]);
    });

    test("when a cancelled neighbour of the prefetch does not start", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(2));
      const batch = await take(store, { prefetch: true });
      const [own, other] = [at(batch.jobs, 0), at(batch.jobs, 1)];
      await store.startPrefetched(batch.lease, [own.key]);
      await store.intervene(own.id, () => runAgain());
      await store.cancel(other.id, null, null);
      expect(await startAll(store, batch)).toMatchObject({ begun: [] });

      expect(await endedRuns(store, batch.worker)).toEqual([nameOf(batch, 0)]);
    });

    test("when they are of several leases, and all runs of one", async () => {
      await using db = await open();
      const { store } = db;
      const { worker, jobs } = await takeLeases(store);
      const ended = jobs.filter((_, index) => index % 3 === 0 || index < JOBS_PER_LEASE);
      for (const { id } of ended.toReversed()) await store.intervene(id, () => runAgain());

      expect(await endedRuns(store, worker)).toEqual(ended.map(({ key, n }) => ({ key, n })));
    });

    test("when the same worker runs the job again, and that run ends as well", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await takeThree(store);
      const { worker } = batch;
      const { id, key } = at(batch.jobs, 0);
      await store.intervene(id, () => runAgain());
      const again = await takeOne(store, { worker });
      expect(again.job).toMatchObject({ key, n: 2 });
      await store.intervene(id, () => failedWith());

      const told = [
        { key, n: 1 },
        { key, n: 2 },
      ];
      expect(await endedRuns(store, worker)).toEqual(told);
    });

    test("also one that had not started: a process may be emptied for its job", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(1));
      const prefetched = await take(store, { prefetch: true });
      await store.intervene(at(prefetched.jobs, 0).id, () => runAgain());

      expect(await endedRuns(store, prefetched.worker)).toEqual([nameOf(prefetched, 0)]);
    });

    test("and not runs that their worker has settled", async () => {
      await using db = await open();
      const { store } = db;
      const started = await takeThree(store);
      await settleOne(store, started, 1);

      expect(await endedRuns(store, started.worker)).toEqual([]);
    });

    test("to no other worker", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await takeThree(store);
      const other = await joinWorker(store);
      await store.intervene(at(batch.jobs, 0).id, () => runAgain());

      expect(await endedRuns(store, other)).toEqual([]);
      expect(await endedRuns(store, batch.worker)).toHaveLength(1);
    });

    test("at every heartbeat until the worker reports the end of its code", async () => {
      await using db = await open();
      const { store, clock } = db;
      const batch = await takeThree(store);
      await store.intervene(at(batch.jobs, 0).id, () => runAgain());
      await store.intervene(at(batch.jobs, 1).id, () => runAgain());
      const told = [nameOf(batch, 0), nameOf(batch, 1)];
      for (const ms of [0, 20_000, 10 * MINUTE_MS]) {
        await clock.advance(ms);
        expect(await endedRuns(store, batch.worker)).toEqual(told);
      }
      const { key, n } = at(batch.jobs, 0);

      await store.reportCode(batch.worker, { ended: [{ key, n }] });

      expect(await endedRuns(store, batch.worker)).toEqual([nameOf(batch, 1)]);
    });

    test("and forgets them when the worker has left", async () => {
      await using db = await open();
      const { store } = db;
      const info = workerInfo();
      await store.register(info);
      const [id] = await add(store, {});
      await takeOne(store, { worker: info.id });
      await store.intervene(id, () => runAgain());

      await store.deregister(info.id);
      await store.register(info);

      expect(await endedRuns(store, info.id)).toEqual([]);
    });

    test("and forgets them when the worker was rescued", async () => {
      await using db = await open();
      const { store, clock } = db;
      const info = workerInfo({ leaseMs: 1_000 });
      await store.register(info);
      const [id] = await add(store, {}, {});
      await take(store, { worker: info.id });
      await store.intervene(id, () => failedWith());
      await clock.advance(1_001);

      const rescue = await rescueSilent(store, info.id, { decide: () => runAgain() });
      expect(rescue).toMatchObject({ done: true });
      await store.register(info);

      expect(await endedRuns(store, info.id)).toEqual([]);
    });
  });
}

/** Several leases of one worker, with several running jobs each. */
async function takeLeases(
  store: JobStore,
): Promise<{ readonly worker: WorkerId; readonly jobs: readonly ClaimedJob[] }> {
  const worker = await joinWorker(store, { leaseMs: 60 * MINUTE_MS });
  await store.enqueue(newJobs(LEASES * JOBS_PER_LEASE));
  const jobs: ClaimedJob[] = [];
  for (const _ of range(LEASES)) {
    jobs.push(...(await take(store, { worker, limit: JOBS_PER_LEASE })).jobs);
  }
  return { worker, jobs };
}

async function takeThree(store: JobStore): Promise<Batch> {
  const worker = await joinWorker(store, { leaseMs: 60 * MINUTE_MS });
  await store.enqueue(newJobs(3));
  return take(store, { worker });
}

async function settleOne(store: JobStore, batch: Batch, index: number): Promise<void> {
  const item = settleItem(batch, at(batch.jobs, index), completed());
  expect(await store.settle([item])).toEqual(["settled"]);
}

function nameOf({ jobs }: Batch, index: number): object {
  const { key, n } = at(jobs, index);
  return { key, n };
}

async function endedRuns(store: JobStore, worker: WorkerId): Promise<unknown> {
  const renewal = await store.renew(worker, 60 * MINUTE_MS);
  return renewal.status === "renewed" ? renewal.ended : "lost";
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
