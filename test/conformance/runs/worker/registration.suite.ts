import { describe, expect, test } from "vitest";
import {
  cancelled,
  completed,
  newJobs,
  runAgain,
  workerId,
  workerInfo,
} from "../../../support/factories.ts";
import {
  add,
  at,
  claimRequest,
  joinWorker,
  recordOf,
  rescueSilent,
  runOne,
  settleAll,
  settleItem,
  stateOf,
  take,
  takeOne,
} from "../../../support/steps.ts";
import type { OpenStore } from "../../../support/stores.ts";

export function workerSuite(open: OpenStore): void {
  describe("register", () => {
    test("gives a worker its first lease", async () => {
      await using db = await open();
      const { store, clock } = db;
      const worker = await joinWorker(store, { leaseMs: 1_000 });

      await clock.advance(999);

      expect(await store.silent(10)).toEqual([]);
      expect(await store.renew(worker, 1_000)).toEqual({
        status: "renewed",
        now: clock.now(),
        cancel: [],
        busy: false,
        quiet: false,
        stop: false,
        outdated: false,
        ended: [],
      });
    });

    test("renews a worker that is known, and leaves it what it holds", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      const info = workerInfo({ leaseMs: 1_000 });
      await store.register(info);
      const batch = await take(store, { worker: info.id });
      await clock.advance(900);

      await store.register(info);
      await clock.advance(900);

      expect(await store.silent(10)).toEqual([]);
      await settleAll(store, batch, completed());
    });

    test("says whether the worker has runs that have not ended", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {});
      const batch = await take(store);
      const during = await store.renew(batch.worker, 1_000);
      await settleAll(store, batch, completed());

      expect(during).toMatchObject({ busy: true });
      expect(await store.renew(batch.worker, 1_000)).toMatchObject({ busy: false });
    });

    test("counts as a beat: a rescuer who saw the worker silent comes too late", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      const info = workerInfo({ leaseMs: 1_000 });
      await store.register(info);
      const batch = await take(store, { worker: info.id });
      await clock.advance(1_001);
      const { beats } = at(await store.silent(1), 0);
      await store.register(info);
      await clock.advance(1_001);

      const rescue = await store.rescue({
        worker: info.id,
        beats,
        limit: 10,
        decide: () => completed(),
      });

      expect(rescue).toEqual({ returned: 0, settled: [], missing: [], done: false });
      await settleAll(store, batch, completed());
    });

    test("takes a worker back that had left", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const info = workerInfo();
      await store.register(info);
      await store.deregister(info.id);

      await store.register(info);

      expect(await store.claim(claimRequest(info.id))).toMatchObject({
        lost: false,
        jobs: [{ id }],
      });
    });
  });

  describe("renew", () => {
    test("extends the lease by the length asked for, from now", async () => {
      await using db = await open();
      const { store, clock } = db;
      const worker = await joinWorker(store, { leaseMs: 1_000 });
      await clock.advance(900);

      await store.renew(worker, 5_000);

      await clock.advance(4_999);
      expect(await store.silent(10)).toEqual([]);
      await clock.advance(2);
      expect(await store.silent(10)).toMatchObject([{ id: worker }]);
    });

    test("tells an unknown worker that it is lost", async () => {
      await using db = await open();

      expect(await db.store.renew(workerId(), 1_000)).toEqual({ status: "lost" });
      expect(await db.store.silent(10)).toEqual([]);
    });

    test("tells a worker whose protocol is older than the store takes, and no other", async () => {
      await using db = await open();
      const { store } = db;
      const old = await joinWorker(store, { protocol: 0 });
      const present = await joinWorker(store);

      expect(await store.renew(old, 1_000)).toMatchObject({ outdated: true });
      expect(await store.renew(present, 1_000)).toMatchObject({ outdated: false });
    });

    test("tells a worker of its jobs with a cancel request, and of no other", async () => {
      await using db = await open();
      const { store } = db;
      const [mine, , theirs] = await add(store, {}, {}, {});
      const me = await take(store, { limit: 2 });
      const them = await take(store, { limit: 1 });
      await store.cancel(mine, "ada", "wrong address");
      await store.cancel(theirs, "bob", null);

      const toMe = await store.renew(me.worker, 30_000);
      const toThem = await store.renew(them.worker, 30_000);

      expect(toMe).toMatchObject({
        cancel: [{ key: at(me.jobs, 0).key, reason: "wrong address" }],
      });
      expect(toThem).toMatchObject({ cancel: [{ key: at(them.jobs, 0).key, reason: null }] });
    });

    test("tells of the jobs of every lease of a worker", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await add(store, {}, {}, {}, {}, {});
      const worker = await joinWorker(store);
      const keys: number[] = [];
      while (keys.length < ids.length) {
        keys.push(at((await store.claim(claimRequest(worker, { limit: 1 }))).jobs, 0).key);
      }
      const told = async (what: "cancel" | "ended"): Promise<readonly number[]> => {
        const renewal = await store.renew(worker, 30_000);
        const runs = renewal.status === "renewed" ? renewal[what] : [];
        return runs.map(({ key }) => key).toSorted((left, right) => left - right);
      };

      for (const id of ids) await store.cancel(id, "ada", null);
      expect(await told("cancel")).toEqual(keys);

      for (const id of ids) await store.intervene(id, () => cancelled());
      expect(await told("ended")).toEqual(keys);
    });

    test("tells the present holder of a job, not one that held it before", async () => {
      await using db = await open();
      const { store } = db;
      const [moved] = await add(store, {}, {});
      await runOne(store, runAgain());
      const before = await take(store);
      await store.settle([settleItem(before, at(before.jobs, 0), runAgain())]);
      const now = await takeOne(store);
      await store.cancel(moved, null, "enough");

      const toFormer = await store.renew(before.worker, 30_000);
      const toPresent = await store.renew(now.worker, 30_000);

      expect(toFormer).toMatchObject({ status: "renewed", cancel: [] });
      expect(toPresent).toMatchObject({ cancel: [{ key: now.job.key, reason: "enough" }] });
    });

    test("repeats a request to cancel until the job is settled", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {}, {});
      const batch = await take(store);
      await store.cancel(id, null, "enough");

      const first = await store.renew(batch.worker, 30_000);
      const second = await store.renew(batch.worker, 30_000);
      await store.settle([settleItem(batch, at(batch.jobs, 0), cancelled("enough"))]);
      const third = await store.renew(batch.worker, 30_000);

      expect(first).toMatchObject({ cancel: [{ reason: "enough" }] });
      expect(second).toEqual(first);
      expect(third).toMatchObject({ status: "renewed", cancel: [] });
    });

    test("keeps a job alive for hours on a short lease (C-20)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store, { worker: await joinWorker(store, { leaseMs: 1_000 }) });

      for (let beat = 0; beat < 20; beat += 1) {
        await clock.advance(900);
        expect(await store.renew(batch.worker, 1_000)).toMatchObject({ status: "renewed" });
      }

      expect(await store.silent(10)).toEqual([]);
      await settleAll(store, batch, completed());
      expect(await stateOf(store, id)).toBe("completed");
    });
  });

  describe("silent", () => {
    test("lists a worker whose lease has run out, with its silence and its beats", async () => {
      await using db = await open();
      const { store, clock } = db;
      const worker = await joinWorker(store, { leaseMs: 1_000 });
      await clock.advance(1_001);

      const first = await store.silent(10);
      await clock.advance(5_000);
      const second = await store.silent(10);
      await store.renew(worker, 1_000);
      await clock.advance(1_001);
      const third = await store.silent(10);

      expect(first).toMatchObject([{ id: worker }]);
      expect(second).toEqual([{ ...at(first, 0), silentMs: at(first, 0).silentMs + 5_000 }]);
      expect(third).toMatchObject([{ id: worker, silentMs: at(first, 0).silentMs }]);
      expect(at(third, 0).beats).toBeGreaterThan(at(first, 0).beats);
    });

    test("lists the longest silent first, and no more than asked", async () => {
      await using db = await open();
      const { store, clock } = db;
      const short = await joinWorker(store, { leaseMs: 3_000 });
      const long = await joinWorker(store, { leaseMs: 1_000 });
      const middle = await joinWorker(store, { leaseMs: 2_000 });
      await joinWorker(store, { leaseMs: 60_000 });
      await clock.advance(5_000);

      const all = await store.silent(10);
      const two = await store.silent(2);

      expect(all.map((worker) => worker.id)).toEqual([long, middle, short]);
      expect(two).toEqual(all.slice(0, 2));
    });
  });

  describe("deregister", () => {
    test("forgets a worker that holds nothing", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      const worker = await joinWorker(store);

      await store.deregister(worker);
      await clock.advance(60_000);

      expect(await store.silent(10)).toEqual([]);
      expect(await store.renew(worker, 1_000)).toEqual({ status: "lost" });
      expect(await store.claim(claimRequest(worker))).toMatchObject({ lost: true, jobs: [] });
    });

    test("lets others rescue at once what the worker still holds", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(3));
      const batch = await take(store, { prefetch: true });

      await store.deregister(batch.worker);

      expect(await store.silent(10)).toMatchObject([{ id: batch.worker }]);
      const rescue = await rescueSilent(store, batch.worker, { decide: () => completed() });
      expect(rescue).toEqual({ returned: 3, settled: [], missing: [], done: true });
    });

    test("moves nothing by itself", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const { worker } = await takeOne(store);
      const before = await recordOf(store, id);

      await store.deregister(worker);

      expect(await recordOf(store, id)).toEqual(before);
    });

    test("is harmless for an unknown worker and when repeated", async () => {
      await using db = await open();
      const { store } = db;
      const other = await joinWorker(store);
      const worker = await joinWorker(store);
      await store.deregister(worker);

      await store.deregister(worker);
      await store.deregister(workerId());

      expect(await store.renew(other, 1_000)).toMatchObject({ status: "renewed" });
    });
  });
}
