import { describe, expect, test } from "vitest";
import { completed, failedWith, newJobs, runAgain, workerInfo } from "../../support/factories.ts";
import { add, addCrashed, at, joinWorker, settleItem, take, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { workerRequestTests } from "./worker-requests.suite.ts";

export function workersListSuite(open: OpenStore): void {
  describe("workers", () => {
    test("shows a worker as it joined", async () => {
      await using db = await open();
      const { store, clock } = db;
      const takes = {
        types: ["email", "sms"],
        lanes: ["fast"],
        slots: 7,
        laneSlots: { fast: 7 },
        tenant: "acme",
        appVersion: "2.1",
      };
      const process = { host: "mill-7", pid: 4_711, version: "1.2.3" };
      const info = workerInfo({ ...process, ...takes, leaseMs: 9_000, beatMs: 700 });
      await store.register(info);

      expect(await store.workers(10)).toEqual([
        {
          id: info.id,
          ...process,
          ...takes,
          joinedAt: clock.now(),
          until: clock.now() + 9_000,
          leaseLeftMs: 9_000,
          beats: 0,
          beatMs: 700,
          beatAgoMs: 0,
          quiet: false,
          stopping: false,
          running: 0,
          prefetched: 0,
          runningByLane: {},
          crashedOnce: 0,
          crashedOften: 0,
          memoryBytes: null,
          loopLagMs: null,
          takenBy: null,
        },
      ]);
    });

    test("shows a worker that takes jobs of every tenant", async () => {
      await using db = await open();
      await joinWorker(db.store, { tenant: null });

      expect(await db.store.workers(10)).toMatchObject([{ tenant: null }]);
    });

    test("shows a worker as quiet that joins so, and as it was if it joins again", async () => {
      await using db = await open();
      const { store } = db;
      const info = workerInfo({ quiet: true });
      await store.register(info);
      const first = await store.renew(info.id, 1_000);
      await store.register({ ...info, quiet: false });
      const again = await store.workers(10);
      await store.resumeWorker(info.id);
      await store.register(info);

      expect(first).toMatchObject({ quiet: true });
      expect(again).toMatchObject([{ quiet: true }]);
      expect(await store.workers(10)).toMatchObject([{ quiet: false }]);
    });

    test("shows its beats and the end of its lease, and when it joined first", async () => {
      await using db = await open();
      const { store, clock } = db;
      const worker = await joinWorker(store);
      const joinedAt = clock.now();
      await clock.advance(1_000);
      await store.renew(worker, 5_000);
      await clock.advance(1_000);
      await store.renew(worker, 7_000);

      expect(await store.workers(10)).toMatchObject([
        { id: worker, joinedAt, beats: 2, until: clock.now() + 7_000 },
      ]);
    });

    test("tells how long ago the last heartbeat was, by the clock of the store", async () => {
      await using db = await open();
      const { store, clock } = db;
      const info = workerInfo();
      const agoMs = async () => (await store.workers(10))[0]?.beatAgoMs;
      await store.register(info);
      await clock.advance(1_500);
      expect(await agoMs()).toBe(1_500);

      await store.renew(info.id, 5_000);
      await clock.advance(400);
      expect(await agoMs()).toBe(400);

      await store.register(info);
      await clock.advance(90_000);
      expect(await agoMs()).toBe(90_000);
    });

    test("tells how long its lease lasts, by the clock of the store", async () => {
      await using db = await open();
      const { store, clock } = db;
      const info = workerInfo({ leaseMs: 5_000 });
      const leftMs = async () => (await store.workers(10))[0]?.leaseLeftMs;
      await store.register(info);
      expect(await leftMs()).toBe(5_000);

      await clock.advance(1_500);
      expect(await leftMs()).toBe(3_500);
      await store.renew(info.id, 7_000);
      expect(await leftMs()).toBe(7_000);
      await clock.advance(7_500);
      expect(await leftMs()).toBe(-500);
    });

    test("counts what a worker holds: begun, and in its buffers", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(9));
      const run = await take(store, { limit: 2 });
      const { worker } = run;
      await take(store, { worker, limit: 1 });
      const prefetch = await take(store, { worker, limit: 4, prefetch: true });
      await take(store, { limit: 2, prefetch: true });
      const keys = prefetch.jobs.map(({ key }) => key);

      const counts = async () => {
        const all = await store.workers(10);
        const { running, prefetched } = all.find(({ id }) => id === worker)!;
        return [running, prefetched];
      };

      expect(await counts()).toEqual([3, 4]);
      await store.settle([settleItem(run, at(run.jobs, 0), completed())]);
      expect(await counts()).toEqual([2, 4]);
      await store.startPrefetched(prefetch.lease, [at(keys, 0)]);
      expect(await counts()).toEqual([3, 3]);
      await store.returnPrefetched(prefetch.lease, [at(keys, 1)]);
      expect(await counts()).toEqual([3, 2]);
      await store.intervene(at(prefetch.jobs, 2).id, () => failedWith());
      expect(await counts()).toEqual([3, 1]);
      await store.intervene(at(run.jobs, 1).id, () => runAgain());
      expect(await counts()).toEqual([2, 1]);
    });

    test("counts what has begun by lane, and apart what has crashed before", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(5, { lane: "fast" }));
      await store.enqueue(newJobs(2, { lane: "heavy" }));
      for (const crashes of [1, 2, 3]) await addCrashed(store, crashes, { lane: "slow" });
      const run = await take(store, { limit: 10, lanes: ["slow"] });
      const { worker } = run;
      await take(store, { worker, limit: 10, lanes: ["heavy"] });
      await take(store, { worker, limit: 3, lanes: ["fast"] });
      await take(store, { worker, limit: 1, lanes: ["fast"], prefetch: true });

      const counts = async () => {
        const all = await store.workers(10);
        const { runningByLane, crashedOnce, crashedOften } = all.find(({ id }) => id === worker)!;
        return { ...runningByLane, once: crashedOnce, often: crashedOften };
      };

      expect(await counts()).toEqual({ slow: 3, heavy: 2, fast: 3, once: 1, often: 2 });
      for (const job of run.jobs) await store.settle([settleItem(run, job, completed())]);
      expect(await counts()).toEqual({ heavy: 2, fast: 3, once: 0, often: 0 });
    });

    test.each(["constructor", "__proto__"])("counts the lane %s as any other", async (lane) => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(2, { lane }));
      const worker = await joinWorker(store, { laneSlots: Object.fromEntries([[lane, 2]]) });
      await take(store, { worker, limit: 2, lanes: [lane] });

      const { runningByLane, laneSlots } = at(await store.workers(10), 0);

      expect(Object.entries(runningByLane)).toEqual([[lane, 2]]);
      expect(Object.entries(laneSlots)).toEqual([[lane, 2]]);
    });

    test("lists those first that joined first, and no more than asked", async () => {
      await using db = await open();
      const { store, clock } = db;
      const workers = [];
      for (let index = 0; index < 4; index += 1) {
        workers.push(await joinWorker(store, { leaseMs: 10_000 - index * 1_000 }));
        await clock.advance(10);
      }

      const ids = async (limit: number) => (await store.workers(limit)).map(({ id }) => id);

      expect(await ids(10)).toEqual(workers);
      expect(await ids(2)).toEqual(workers.slice(0, 2));
      expect(await ids(0)).toEqual([]);
      expect(await ids(-1)).toEqual([]);
    });

    test("shows a silent worker with an end in the past, until it is gone", async () => {
      await using db = await open();
      const { store, clock } = db;
      const worker = await joinWorker(store, { leaseMs: 1_000 });
      const until = clock.now() + 1_000;
      await clock.advance(5_000);

      expect(await store.workers(10)).toMatchObject([{ id: worker, until }]);
      await store.deregister(worker);
      expect(await store.workers(10)).toEqual([]);
    });
  });

  describe("time", () => {
    test("is that of the clock by which jobs are due", async () => {
      await using db = await open();
      const { store, clock } = db;
      expect(await store.time()).toBe(clock.now());

      await clock.advance(1_500);
      expect(await store.time()).toBe(clock.now());
      clock.setBack(60_000);
      expect(await store.time()).toBe(clock.now());
    });
  });

  describe("quiet", () => {
    test("asks one worker to take no new work; its renewal tells it", async () => {
      await using db = await open();
      const { store } = db;
      const [worker, other] = [await joinWorker(store), await joinWorker(store)];

      expect(await store.quiet(worker)).toBe(true);

      expect(await store.renew(worker, 1_000)).toMatchObject({ quiet: true });
      expect(await store.renew(worker, 1_000)).toMatchObject({ quiet: true });
      expect(await store.renew(other, 1_000)).toMatchObject({ quiet: false });
      const shown = await store.workers(10);
      expect(shown.filter(({ quiet }) => quiet).map(({ id }) => id)).toEqual([worker]);
    });

    workerRequestTests(open, {
      verb: "quiet",
      renewal: { quiet: true, stop: false },
      shown: { quiet: true },
    });
  });

  describe("renew", () => {
    test("has nothing to tell of runs that go on", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {});
      const { worker } = await take(store, { limit: 1 });
      await take(store, { worker, prefetch: true });

      expect(await store.renew(worker, 1_000)).toMatchObject({ ended: [] });
    });

    test("names the run that ended, not the one that the job has now", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { priority: 1 }, { priority: 2 });
      const first = await take(store);
      const { key } = at(first.jobs, 0);
      await store.intervene(id, () => runAgain());
      await takeOne(store, { worker: first.worker });

      expect(await store.renew(first.worker, 1_000)).toMatchObject({ ended: [{ key, n: 1 }] });
    });
  });
}
