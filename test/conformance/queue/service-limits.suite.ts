/** The limit of a service: it applies to the jobs of all types that use the service. */
import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import { completed, crashedOnce, newJobs } from "../../support/factories.ts";
import {
  add,
  claimable,
  claimRequest,
  joinWorker,
  recordOf,
  rescueSilent,
  settleAll,
  take,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { OPEN_MS, outage, probe, takeProbe, uses } from "../services/scene.ts";

const BANK = { kind: "service", name: "bank" } as const;
const POST = { kind: "service", name: "post" } as const;

function cap(concurrency: number): { readonly concurrency: number; readonly rate: null } {
  return { concurrency, rate: null };
}

async function usedOf(store: JobStore): Promise<readonly number[]> {
  return (await store.limits()).map(({ used }) => used ?? 0);
}

export function serviceLimitsSuite(open: OpenStore): void {
  describe("claim, with limits of services", () => {
    test("takes no more jobs of all types that use the service than the limit allows", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"], "email");
      await uses(store, ["bank"], "sms");
      await store.setLimit(BANK, cap(3), "ann");
      await store.enqueue([...newJobs(5), ...newJobs(5, { type: "sms" })]);
      const [free] = await add(store, { type: "report" });

      const first = await take(store, { limit: 2 });
      const others = await claimable(store);

      const [limit] = await store.limits();
      expect(limit).toMatchObject({ ...BANK, concurrency: 3, used: 3, by: "ann" });
      expect(first.jobs.map(({ limits }) => limits)).toEqual([[limit?.id], [limit?.id]]);
      expect(others).toHaveLength(2);
      expect(others).toContain(free);
      expect(await claimable(store)).toEqual([]);
    });

    test("takes a job only if each of its services has a permit", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank", "post"], "email");
      await uses(store, ["post"], "sms");
      await store.setLimit(BANK, cap(2), null);
      await store.setLimit(POST, cap(1), null);
      const [email, , sms] = await add(store, {}, {}, { type: "sms" });

      const { jobs, worker } = await take(store);

      expect(jobs.map(({ id }) => id)).toEqual([email]);
      expect(jobs[0]?.limits).toHaveLength(2);
      expect(await usedOf(store)).toEqual([1, 1]);
      await store.setLimit(POST, cap(2), null);
      await store.setLimit(BANK, cap(1), null);
      expect(await claimable(store)).toEqual([sms]);
      await store.keepPermits(worker, []);
      expect(await usedOf(store)).toEqual([0, 1]);
    });

    test("grants no permit twice to claims that race with each other", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank", "post"], "email");
      await uses(store, ["bank"], "sms");
      await store.setLimit(BANK, cap(7), null);
      await store.setLimit(POST, cap(4), null);
      await store.enqueue([...newJobs(60), ...newJobs(60, { type: "sms" })]);
      const workers = await Promise.all(Array.from({ length: 8 }, () => joinWorker(store)));
      for (let round = 0; round < 5; round += 1) {
        const claims = await Promise.all(
          workers.map((worker) => store.claim(claimRequest(worker, { limit: 3 }))),
        );

        const jobs = claims.flatMap((claim) => claim.jobs);
        const sum = jobs.flatMap(({ limits = [] }) => limits).length;
        expect(jobs.length).toBeLessThanOrEqual(7);
        expect(jobs.filter(({ type }) => type === "email").length).toBeLessThanOrEqual(4);
        expect((await usedOf(store)).reduce((total, used) => total + used, 0)).toBe(sum);
        await Promise.all(workers.map((worker) => store.keepPermits(worker, [])));
      }
    });

    test("starts jobs of the service at its rate", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      const rate = { count: 2, perMs: 1_000, burst: 3 };
      await store.setLimit(BANK, { concurrency: null, rate }, null);
      await store.enqueue(newJobs(10));

      expect(await claimable(store, { prefetch: true })).toEqual([]);
      expect(await claimable(store)).toHaveLength(3);
      await store.hold(100);
      expect(await claimable(store)).toEqual([]);
      await clock.advance(500);
      expect(await claimable(store)).toHaveLength(1);
    });

    test("takes the permit of a service for a job that runs as a probe", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await store.setLimit(BANK, cap(1), null);
      await add(store, {}, {});
      const worker = await joinWorker(store, { leaseMs: 100 * OPEN_MS });
      await take(store, { worker, limit: 1 });
      await outage(store);
      await clock.advance(OPEN_MS);
      expect(await probe(store)).toBeNull();

      await store.keepPermits(worker, []);
      const claim = await takeProbe(store);

      expect(claim.granted).toEqual([{ limit: claim.job.limits?.[0], count: 1 }]);
      expect(await usedOf(store)).toEqual([1]);
    });

    test("finds the permits of a dead worker free after its rescue", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await store.setLimit(BANK, cap(2), null);
      await store.enqueue(newJobs(4));
      const { worker } = await take(store);
      await clock.advance(60_000);
      expect(await usedOf(store)).toEqual([2]);

      await rescueSilent(store, worker, { decide: () => crashedOnce() });

      expect(await usedOf(store)).toEqual([0]);
      expect(await claimable(store)).toHaveLength(2);
    });
  });

  describe("the queue of a limited service", () => {
    test("has the jobs of all its types, and claims take them in their order", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"], "email");
      await uses(store, ["bank"], "sms");
      await store.setLimit(BANK, cap(2), null);
      await add(store, {}, {});
      const batch = await take(store);
      const [third, first, second] = await add(
        store,
        { priority: 30 },
        { type: "sms", priority: 10 },
        { priority: 20 },
      );
      expect(await store.hold(100)).toBe(3);
      expect(await recordOf(store, first)).toMatchObject({
        state: "queued",
        heldBy: { kind: "limit", of: { kind: "type", name: "sms" } },
      });
      const [free] = await add(store, { type: "report", priority: 99 });
      expect(await claimable(store)).toEqual([free]);

      await settleAll(store, batch, completed());
      await store.keepPermits(batch.worker, []);

      expect(await claimable(store)).toEqual([first, second]);
      expect(await store.release(100)).toBe(0);
      expect(await recordOf(store, third)).toMatchObject({ heldBy: { kind: "limit" } });
    });

    test("is left by jobs whose type does not use the service any more", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"], "email");
      await uses(store, ["bank"], "sms");
      await store.setLimit(BANK, cap(1), null);
      const [, waiting, other] = await add(store, {}, {}, { type: "sms" });
      await take(store, { limit: 1 });
      expect(await store.hold(100)).toBe(2);

      await uses(store, [], "email");

      expect((await store.promote(10)).waiting.released).toBe(true);
      expect(await store.release(100)).toBe(1);
      expect(await claimable(store)).toEqual([waiting]);
      expect(await recordOf(store, other)).toMatchObject({ heldBy: { kind: "limit" } });
    });

    test("serves jobs whose type uses another limited service since a deploy", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"]);
      await store.setLimit(BANK, cap(1), null);
      await store.setLimit(POST, cap(1), null);
      const [, second, third] = await add(store, {}, {}, {});
      await take(store, { limit: 1 });
      await store.hold(100);

      await uses(store, ["post"]);

      const next = await take(store);
      expect(next.jobs.map(({ id }) => id)).toEqual([second]);
      expect(await usedOf(store)).toEqual([1, 1]);
      expect(await recordOf(store, third)).toMatchObject({ heldBy: { kind: "limit" } });
    });

    test("holds jobs of a type that uses the service since a deploy", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"], "sms");
      await store.setLimit(BANK, cap(1), null);
      await add(store, { type: "sms" });
      const batch = await take(store);
      const [email] = await add(store, {});

      await uses(store, ["bank"], "email");

      expect(await claimable(store)).toEqual([]);
      await store.keepPermits(batch.worker, []);
      expect(await claimable(store)).toEqual([email]);
    });

    test("is emptied when the limit is removed, and kept for the limit of the type", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"], "email");
      await uses(store, ["bank"], "sms");
      await store.setLimit(BANK, cap(1), null);
      const [, email] = await add(store, {}, {});
      const [sms] = await add(store, { type: "sms" });
      await take(store, { limit: 1 });
      await store.hold(100);
      await store.setLimit({ kind: "type", name: "email" }, cap(1), null);
      await add(store, {});

      expect(await store.removeLimit(BANK)).toBe(true);

      expect(await store.release(100)).toBe(1);
      expect(await recordOf(store, sms)).toMatchObject({ heldBy: null });
      expect(await recordOf(store, email)).toMatchObject({ heldBy: { kind: "limit" } });
      expect(await claimable(store)).toEqual([email, sms]);
      expect(await store.removeLimit(BANK)).toBe(false);
    });
  });
}
