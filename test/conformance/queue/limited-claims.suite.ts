import { describe, expect, test } from "vitest";
import type { PermitCount } from "../../../src/core/control/permits.ts";
import type { Claim, WorkerId } from "../../../src/store/types/jobs-and-runs.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { completed, crashedOnce, newJobs } from "../../support/factories.ts";
import {
  add,
  addCrashed,
  claimable,
  claimRequest,
  joinWorker,
  recordOf,
  rescueSilent,
  settleAll,
  take,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const TYPE = { kind: "type", name: "email" } as const;
const TENANT = { kind: "tenant", name: "acme" } as const;
const INSTALLATION = { kind: "installation", name: "all" } as const;
const WHY = { reason: "maintenance", by: null } as const;

function cap(concurrency: number): { readonly concurrency: number; readonly rate: null } {
  return { concurrency, rate: null };
}

async function usedOf(store: JobStore): Promise<number | null | undefined> {
  return (await store.limits())[0]?.used;
}

async function claimWith(
  store: JobStore,
  worker: WorkerId,
  permits: readonly PermitCount[],
): Promise<Claim> {
  return store.claim(claimRequest(worker, { permits }));
}

export function limitedClaimsSuite(open: OpenStore): void {
  describe("claim, with limits", () => {
    test.each([
      [TYPE, { type: "email" }],
      [TENANT, { tenant: "acme" }],
      [INSTALLATION, {}],
    ])("takes no more jobs of the $kind than the limit has permits (000-54)", async (of, job) => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(of, cap(3), null);
      await store.enqueue(newJobs(10, job));
      const worker = await joinWorker(store);

      const first = await store.claim(claimRequest(worker, { limit: 2 }));
      const second = await store.claim(claimRequest(await joinWorker(store)));

      const [limit] = await store.limits();
      expect(limit?.used).toBe(3);
      expect(first.jobs).toHaveLength(2);
      expect(first.jobs[0]?.limits).toEqual([limit?.id]);
      expect(first.permits?.granted).toEqual([{ limit: limit?.id, count: 2 }]);
      expect(second.jobs).toHaveLength(1);
      expect(second.permits).toMatchObject({ isCut: true });
      expect(await claimable(store)).toEqual([]);
    });

    test("grants no permit twice to claims that race with each other", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(7), null);
      await store.setLimit(TENANT, cap(4), null);
      await store.enqueue([...newJobs(100, { tenant: "acme" }), ...newJobs(100)]);
      const workers = await Promise.all(Array.from({ length: 8 }, () => joinWorker(store)));
      for (let round = 0; round < 5; round += 1) {
        const claims = await Promise.all(
          workers.map((worker) => store.claim(claimRequest(worker, { limit: 3 }))),
        );

        const jobs = claims.flatMap((claim) => claim.jobs);
        const granted = claims.flatMap(({ permits }) => permits?.granted ?? []);
        const sum = jobs.flatMap(({ limits = [] }) => limits).length;
        expect(jobs.length).toBeLessThanOrEqual(7);
        expect(jobs.filter(({ tenant }) => tenant === "acme").length).toBeLessThanOrEqual(4);
        expect(granted.reduce((total, { count }) => total + count, 0)).toBe(sum);
        expect((await store.limits()).reduce((total, { used }) => total + (used ?? 0), 0)).toBe(
          sum,
        );
        await Promise.all(workers.map((worker) => store.keepPermits(worker, [])));
      }
    });

    test("says nothing of limits where there are none", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {});

      const claim = await store.claim(claimRequest(await joinWorker(store)));

      expect(claim.permits).toBeUndefined();
      expect(claim.jobs[0]?.limits).toBeUndefined();
    });

    test("leaves jobs alone that no limit applies to", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(1), null);
      const [first, , , sms] = await add(store, {}, {}, {}, { type: "sms" });

      const claim = await store.claim(claimRequest(await joinWorker(store)));

      expect(claim.jobs.map(({ id }) => id)).toEqual([first, sms]);
      expect(claim.permits).toMatchObject({ isCut: true });
    });

    test("looks behind the jobs of a limit that is used up", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(1), null);
      await store.enqueue(newJobs(30));
      const [sms] = await add(store, { type: "sms" });
      await take(store, { limit: 1 });

      expect(await claimable(store, { limit: 5 })).toEqual([sms]);
    });

    test("uses the free permits of the worker before it grants others", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(2), null);
      await store.enqueue(newJobs(5));
      const batch = await take(store);
      await settleAll(store, batch, completed());
      const limit = batch.jobs[0]?.limits?.[0] ?? 0;

      const one = await claimWith(store, batch.worker, [{ limit, count: 1 }]);
      const two = await claimWith(store, batch.worker, [{ limit, count: 1 }]);

      expect([one.jobs.length, two.jobs.length]).toEqual([1, 1]);
      expect([...(one.permits?.granted ?? []), ...(two.permits?.granted ?? [])]).toEqual([]);
      expect(await usedOf(store)).toBe(2);
    });

    test("ignores permits that the worker does not hold", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(1), null);
      await store.enqueue(newJobs(3));
      const { jobs } = await take(store);
      const limit = jobs[0]?.limits?.[0] ?? 0;

      const answer = await claimWith(store, await joinWorker(store), [{ limit, count: 3 }]);

      expect(answer.jobs).toEqual([]);
      expect(answer.permits?.full).toEqual([{ limit, retryMs: null }]);
    });

    test("takes no job beyond a limit that was lowered, until enough runs have ended", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(4), null);
      await store.enqueue(newJobs(8));
      const { worker, jobs } = await take(store);
      const limit = jobs[0]?.limits?.[0] ?? 0;
      await store.setLimit(TYPE, cap(2), null);

      // Two of the four runs have ended: two are left, as many as the limit allows.
      expect((await claimWith(store, worker, [{ limit, count: 2 }])).jobs).toEqual([]);
      expect((await claimWith(store, worker, [{ limit, count: 3 }])).jobs).toHaveLength(1);
    });

    test("takes a job with two limits only if both have a permit", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(10), null);
      await store.setLimit(TENANT, cap(1), null);
      const [first, , third] = await add(
        store,
        { tenant: "acme" },
        { tenant: "acme" },
        { tenant: "bolt" },
      );

      const claim = await store.claim(claimRequest(await joinWorker(store)));

      expect(claim.jobs.map(({ id }) => id)).toEqual([first, third]);
      expect(claim.jobs.map(({ limits }) => limits?.length)).toEqual([2, 1]);
      expect(await store.limits()).toMatchObject([{ used: 1 }, { used: 2 }]);
    });

    test("leaves half of a limit to jobs that start at once, when it prefetches", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(5), null);
      await store.enqueue(newJobs(10));
      const worker = await joinWorker(store);

      const ahead = await store.claim(claimRequest(worker, { prefetch: true }));

      expect(ahead.jobs).toHaveLength(2);
      expect(await claimable(store, { prefetch: true })).toEqual([]);
      expect(await claimable(store)).toHaveLength(3);
    });

    test("counts a job that runs alone", async () => {
      await using db = await open();
      const { store } = db;
      const id = await addCrashed(store, 3);
      await store.setLimit(TYPE, cap(1), null);
      await add(store, {}, {});
      const first = await take(store, { limit: 1, crashed: { once: 0, often: 0, cap: 3 } });
      const worker = await joinWorker(store);
      expect(await store.claimAlone({ worker, lanes: "any", cap: 3 })).toBeNull();
      await settleAll(store, first, completed());
      await store.keepPermits(first.worker, []);

      const lone = await store.claimAlone({ worker, lanes: "any", cap: 3 });

      expect(lone?.job.id).toBe(id);
      expect(lone?.granted).toEqual([{ limit: lone?.job.limits?.[0], count: 1 }]);
      expect(await usedOf(store)).toBe(1);
      expect(await claimable(store, { crashed: { once: 0, often: 0, cap: 3 } })).toEqual([]);
    });

    test("runs no job alone while the installation is full", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3);
      await store.setLimit(INSTALLATION, cap(1), null);
      await add(store, { type: "sms" });
      await take(store, { crashed: { once: 0, often: 0, cap: 3 } });
      const worker = await joinWorker(store);

      expect(await store.claimAlone({ worker, lanes: "any", cap: 3 })).toBeNull();
      expect(await usedOf(store)).toBe(1);
    });

    test("counts jobs that have crashed before", async () => {
      await using db = await open();
      const { store } = db;
      for (let count = 0; count < 3; count += 1) await addCrashed(store, 1);
      await store.setLimit(TYPE, cap(2), null);

      expect(await claimable(store)).toHaveLength(2);
      expect(await claimable(store)).toEqual([]);
    });

    test("tells the workers that hold permits when others want them", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setLimit(TYPE, cap(1), null);
      await add(store, {}, {}, { type: "sms" });
      const batch = await take(store, { limit: 1 });
      const limit = batch.jobs[0]?.limits?.[0] ?? 0;
      expect((await claimWith(store, batch.worker, [])).permits?.wanted).toEqual([]);
      const at = clock.now();

      await claimable(store);

      await clock.advance(500);
      await claimable(store);
      const { permits } = await claimWith(store, batch.worker, []);
      expect(permits?.wanted).toEqual([{ limit, at }]);
      await clock.advance(2_000);
      expect((await claimWith(store, batch.worker, [])).permits?.wanted).toEqual([]);
    });
  });

  describe("claim, with rates", () => {
    const RATE = { count: 2, perMs: 1_000, burst: 3 } as const;

    test("starts a job per token, and tells when the next may start", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setLimit(TYPE, { concurrency: null, rate: RATE }, null);
      await store.enqueue(newJobs(10));

      expect(await claimable(store)).toHaveLength(3);
      const worker = await joinWorker(store);
      const { jobs, permits } = await store.claim(claimRequest(worker));
      expect(jobs).toEqual([]);
      expect(permits?.full).toMatchObject([{ retryMs: 500 }]);
      await clock.advance(499);
      expect(await claimable(store)).toEqual([]);
      await clock.advance(1);
      expect(await claimable(store)).toHaveLength(1);
      await clock.advance(60_000);
      expect(await claimable(store)).toHaveLength(3);
    });

    test("has tokens again after the clock was ahead and went back", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setLimit(TYPE, { concurrency: null, rate: RATE }, null);
      await store.enqueue(newJobs(10));
      await clock.advance(3 * 3_600_000);
      expect(await claimable(store)).toHaveLength(3);

      clock.setBack(3 * 3_600_000);

      expect(await claimable(store)).toHaveLength(3);
      expect(await claimable(store)).toEqual([]);
      await clock.advance(500);
      expect(await claimable(store)).toHaveLength(1);
    });

    test("takes a token for each start, also with a free permit of the worker", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, { concurrency: 2, rate: RATE }, null);
      await store.enqueue(newJobs(10));
      const { worker, jobs } = await take(store);
      const limit = jobs[0]?.limits?.[0] ?? 0;

      const request = claimRequest(worker, { permits: [{ limit, count: 2 }], limit: 1 });
      expect((await store.claim(request)).jobs).toHaveLength(1);
      expect((await store.claim(request)).jobs).toEqual([]);
    });

    test("prefetches no job with a rate", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, { concurrency: null, rate: RATE }, null);
      await add(store, {});

      expect(await claimable(store, { prefetch: true })).toEqual([]);
      expect(await claimable(store)).toHaveLength(1);
    });
  });

  describe("the queue of a limit", () => {
    test("has the jobs of a limit that is used up, and claims take them from there", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(1), null);
      const [, second, third] = await add(store, {}, {}, {});
      const batch = await take(store, { limit: 1 });
      expect(await store.hold(100)).toBe(2);
      expect(await recordOf(store, second)).toMatchObject({
        state: "queued",
        heldBy: { kind: "limit", of: TYPE },
      });
      expect(await claimable(store)).toEqual([]);
      expect((await store.promote(10)).waiting.ready).toBe(true);

      await settleAll(store, batch, completed());
      const limit = batch.jobs[0]?.limits?.[0] ?? 0;
      const next = await claimWith(store, batch.worker, [{ limit, count: 1 }]);

      expect(next.jobs.map(({ id }) => id)).toEqual([second]);
      expect(await store.release(100)).toBe(0);
      expect(await recordOf(store, third)).toMatchObject({ heldBy: { kind: "limit" } });
      await store.keepPermits(batch.worker, []);
      expect(await claimable(store)).toEqual([third]);
    });

    test("keeps the order of claims with jobs that are not in it", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(2), null);
      const running = await add(store, {}, {});
      const batch = await take(store);
      expect(batch.jobs.map(({ id }) => id)).toEqual(running);
      const [late, early] = await add(store, { priority: 50 }, { priority: 10 });
      await store.hold(100);
      const [sms, urgent] = await add(store, { type: "sms", priority: 30 }, { priority: 1 });
      await store.keepPermits(batch.worker, []);

      expect(await claimable(store, { limit: 2 })).toEqual([urgent, early]);
      await store.setLimit(TYPE, cap(3), null);
      expect(await claimable(store)).toEqual([sms, late]);
    });

    test("gives way to a pause, and to another limit that is used up", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(1), null);
      await add(store, {});
      const batch = await take(store);
      const [acme, bulk, free] = await add(store, { tenant: "acme" }, { lane: "bulk" }, {});
      expect(await store.hold(100)).toBe(3);
      await store.setLimit(TENANT, cap(1), null);
      const sms = await add(store, { type: "sms", tenant: "acme" });
      expect(await claimable(store)).toEqual(sms);
      await store.pause({ kind: "lane", name: "bulk" }, WHY);
      await store.keepPermits(batch.worker, []);

      await store.hold(100);

      expect((await recordOf(store, acme)).heldBy).toEqual({ kind: "limit", of: TENANT });
      expect((await recordOf(store, bulk)).heldBy).toEqual({ kind: "lane", name: "bulk" });
      expect(await claimable(store)).toEqual([free]);
      await store.setLimit(TYPE, cap(9), null);
      await store.setLimit(TENANT, cap(9), null);
      await store.resume({ kind: "lane", name: "bulk" });
      await store.release(100);
      expect(await claimable(store)).toEqual([acme, bulk]);
    });

    test("gives out no job that a pause or another limit blocks", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(1), null);
      await add(store, {});
      const batch = await take(store);
      const [, , , free] = await add(
        store,
        { tenant: "acme" },
        { lane: "bulk" },
        { tenant: "x" },
        {},
      );
      await store.hold(100);
      await store.setLimit(TENANT, cap(1), null);
      await add(store, { type: "sms", tenant: "acme" });
      await take(store);
      await store.pause({ kind: "lane", name: "bulk" }, WHY);
      await store.pause({ kind: "tenant", name: "x" }, WHY);
      await store.keepPermits(batch.worker, []);

      expect(await claimable(store)).toEqual([free]);
    });

    test("stays closed while its type is paused", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(1), null);
      const [, second] = await add(store, {}, {});
      const batch = await take(store, { limit: 1 });
      await store.hold(100);
      await store.pause(TYPE, WHY);
      await store.keepPermits(batch.worker, []);

      expect(await claimable(store)).toEqual([]);
      await store.resume(TYPE);
      await store.release(100);
      expect(await claimable(store)).toEqual([second]);
    });

    test("is left by a job that is cancelled", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(1), null);
      const [, second] = await add(store, {}, {});
      const batch = await take(store, { limit: 1 });
      await store.hold(100);

      expect(await store.cancel(second, null, null)).toEqual({ status: "cancelled" });
      await store.keepPermits(batch.worker, []);
      expect(await claimable(store)).toEqual([]);
    });
  });

  describe("permits of a worker that is gone", () => {
    test("are free after its rescue", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setLimit(TYPE, cap(2), null);
      await store.enqueue(newJobs(4));
      const { worker } = await take(store);
      await clock.advance(60_000);
      expect(await usedOf(store)).toBe(2);

      const { done } = await rescueSilent(store, worker, { decide: () => crashedOnce() });

      expect(done).toBe(true);
      expect(await usedOf(store)).toBe(0);
      expect(await claimable(store)).toHaveLength(2);
    });

    test("are free after it has deregistered", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(2), null);
      await store.enqueue(newJobs(4));
      const batch = await take(store);
      await settleAll(store, batch, completed());

      await store.deregister(batch.worker);

      expect(await usedOf(store)).toBe(0);
    });
  });
}
