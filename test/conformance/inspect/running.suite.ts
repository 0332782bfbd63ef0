import { describe, expect, test } from "vitest";
import { completed, failedWith, newJobs, runAgain, workerId } from "../../support/factories.ts";
import {
  add,
  addCrashed,
  at,
  joinWorker,
  settleAll,
  settleItem,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { uses } from "../services/scene.ts";

const ALL = { kind: "installation", name: "all" } as const;
const PAGE = { rows: 100, ids: 100 };
const NONE = { jobs: 0, isExact: true, ids: [], claims: [] };

export function countRunningSuite(open: OpenStore): void {
  describe("countRunning", () => {
    test.each([
      [{ kind: "lane", name: "fast" }, [1]],
      [{ kind: "type", name: "sms" }, [2]],
      [{ kind: "tenant", name: "acme" }, [3]],
      [{ kind: "tenant", name: "default" }, [0, 1, 2]],
      [{ kind: "lane", name: "acme" }, []],
      [{ kind: "type", name: "unheard" }, []],
      [ALL, [0, 1, 2, 3]],
    ] as const)(
      "counts the running jobs of %o, and no others (004-37)",
      async (target, indexes) => {
        await using db = await open();
        const { store } = db;
        const ids = await add(store, {}, { lane: "fast" }, { type: "sms" }, { tenant: "acme" });
        await take(store);
        await add(store, {}, { lane: "fast" }, { type: "sms" }, { tenant: "acme" });

        const found = await store.countRunning(target, PAGE);

        const expected = indexes.map((index) => ids[index]);
        expect(found).toEqual({ ...NONE, jobs: expected.length, ids: found.ids });
        expect(found.ids.toSorted()).toEqual(expected.toSorted());
      },
    );

    test("counts the running jobs of types that use a service, and no others", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"], "sms");
      const [, sms] = await add(store, {}, { type: "sms" });
      await take(store);

      const found = await store.countRunning({ kind: "service", name: "bank" }, PAGE);

      expect(found).toEqual({ ...NONE, jobs: 1, ids: [sms] });
    });

    test("counts the jobs of one worker", async () => {
      await using db = await open();
      const { store } = db;
      const [first] = await add(store, {}, {}, {});
      const { worker } = await takeOne(store);
      const other = await take(store);

      const own = await store.countRunning({ kind: "worker", name: worker }, PAGE);
      const others = await store.countRunning({ kind: "worker", name: other.worker }, PAGE);

      expect(own).toEqual({ ...NONE, jobs: 1, ids: [first] });
      expect(others.jobs).toBe(2);
      expect(await store.countRunning({ kind: "worker", name: workerId() }, PAGE)).toEqual(NONE);
    });

    test("counts a job that is prefetched: it may start at any time", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      await take(store, { prefetch: true });

      expect(await store.countRunning(ALL, PAGE)).toEqual({ ...NONE, jobs: 1, ids: [id] });
    });

    test("counts no run that has ended, in whichever way", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, ...newJobs(4));
      const batch = await take(store, { limit: 4 });
      const ends = [completed(), failedWith(), runAgain()];
      await store.settle(ends.map((end, index) => settleItem(batch, at(batch.jobs, index), end)));

      expect(await store.countRunning(ALL, PAGE)).toMatchObject({
        jobs: 1,
        ids: [at(batch.jobs, 3).id],
      });

      await settleAll(store, { ...batch, jobs: batch.jobs.slice(3) }, completed());
      expect(await store.countRunning(ALL, PAGE)).toEqual(NONE);
    });

    test("counts so many rows, says so, and answers so many ids", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, ...newJobs(5));
      await take(store, { limit: 5 });

      const exact = await store.countRunning(ALL, { rows: 5, ids: 2 });
      const cut = await store.countRunning(ALL, { rows: 4, ids: 0 });

      expect(exact).toMatchObject({ jobs: 5, isExact: true });
      expect(exact.ids).toHaveLength(2);
      expect(cut).toMatchObject({ jobs: 4, isExact: false, ids: [] });
    });
  });

  describe("pause of the installation", () => {
    const WHY = { reason: "maintenance", by: "ada" } as const;

    test("holds back every job, also of new names, until resume (004-37)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const worker = await joinWorker(store);
      await store.pause(ALL, WHY);
      const [other] = await add(store, { type: "new", lane: "new", tenant: "new" });
      const request = { worker, limit: 10, lanes: "any", prefetch: false } as const;

      expect(await store.gates()).toEqual([{ ...ALL, ...WHY, closedAt: clock.now(), until: null }]);
      expect(await store.claim(request)).toMatchObject({ lease: null, jobs: [], lost: false });
      expect(await store.hold(10)).toBe(0);
      expect(await store.resume(ALL)).toBe(true);
      expect(await store.resume(ALL)).toBe(false);
      await store.release(10);

      const { jobs } = await store.claim(request);
      expect(jobs.map((job) => job.id)).toEqual([id, other]);
      expect(await store.gates()).toEqual([]);
    });

    test("ends by itself after its time", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const worker = await joinWorker(store, { leaseMs: 60_000 });
      await store.pause(ALL, { ...WHY, forMs: 1_000 });
      const request = { worker, limit: 10, lanes: "any", prefetch: false } as const;

      expect((await store.claim(request)).jobs).toEqual([]);
      await clock.advance(1_000);
      expect((await store.claim(request)).jobs).toMatchObject([{ id }]);
    });

    test("holds back a job that is to run alone", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 1);
      const worker = await joinWorker(store);
      await store.pause(ALL, WHY);

      const alone = { worker, lanes: "any", cap: 1 } as const;
      expect(await store.claimAlone(alone)).toBeNull();
      await store.resume(ALL);
      expect(await store.claimAlone(alone)).not.toBeNull();
    });

    test("makes due jobs held ones in all counts", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {}, { type: "sms" });
      await store.pause(ALL, WHY);
      await store.pause({ kind: "type", name: "sms" }, WHY);

      expect(await store.stats(100)).toMatchObject({ queued: 0, held: 3, oldestQueuedMs: null });
      const { groups } = await store.groupedStats({ rows: 100, groups: 10 });
      expect(groups.map(({ queued, held }) => [queued, held])).toEqual([
        [0, 2],
        [0, 1],
      ]);
      expect(await store.countBehind(ALL, 100)).toMatchObject({ jobs: 2, shared: 1 });
      const sms = await store.countBehind({ kind: "type", name: "sms" }, 100);
      expect(sms).toMatchObject({ jobs: 0, shared: 1 });
    });
  });
}
