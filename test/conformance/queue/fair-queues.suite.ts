import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import { completed, newJobs } from "../../support/factories.ts";
import { add, claimable, recordOf, settleAll, take, type Batch } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const MANY = 1_000;
const TYPE = { kind: "type", name: "report" } as const;
const REPORT = { type: "report" } as const;
const WHY = { reason: "maintenance", by: null } as const;

function cap(concurrency: number): { readonly concurrency: number; readonly rate: null } {
  return { concurrency, rate: null };
}

/** A fair lane in which a job of `acme` uses up the limit of the type. */
async function usedUp(store: JobStore): Promise<Batch> {
  await store.setFairness("general", {}, null);
  await store.setLimit(TYPE, cap(1), null);
  await add(store, { ...REPORT, tenant: "acme" });
  return take(store);
}

/** Jobs of a tenant that wait in the queue of the limit. */
async function queue(
  store: JobStore,
  tenant: string,
  count: number,
  overrides: Partial<NewJob> = {},
): Promise<readonly JobId[]> {
  const jobs = newJobs(count, { ...REPORT, tenant, ...overrides });
  await store.enqueue(jobs);
  expect(await store.hold(MANY)).toBe(count);
  return jobs.map(({ id }) => id);
}

export function fairQueuesSuite(open: OpenStore): void {
  describe("giveTurns, in the queue of a limit", () => {
    test("a newcomer starts among the next jobs that get a permit", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await usedUp(store);
      await queue(store, "acme", 50);
      expect(await store.giveTurns(MANY)).toEqual({ given: 0, more: false });
      const [small] = await queue(store, "beta", 1);
      expect((await store.promote(MANY)).waiting.fair).toBe(true);

      expect((await store.giveTurns(MANY)).given).toBe(2);

      await store.keepPermits(batch.worker, []);
      await store.setLimit(TYPE, cap(2), null);
      expect(await claimable(store)).toContain(small);
      expect(await claimable(store)).toEqual([]);
    });

    test("a job without a limit starts among the next jobs of the queue", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await usedUp(store);
      await queue(store, "acme", 50);
      const [small] = await add(store, { tenant: "beta" });
      await store.giveTurns(MANY);
      await store.keepPermits(batch.worker, []);
      await store.setLimit(TYPE, cap(9), null);

      expect(await claimable(store, { limit: 2 })).toContain(small);
    });

    test("a job in the queue starts among the next jobs without a limit", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await usedUp(store);
      await store.enqueue(newJobs(50, { tenant: "beta" }));
      const [small] = await queue(store, "acme", 1);
      await store.giveTurns(MANY);
      await store.keepPermits(batch.worker, []);

      expect(await claimable(store, { limit: 2 })).toContain(small);
    });

    test("a newcomer starts among the first of a queue in which all jobs have turns", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await usedUp(store);
      await queue(store, "acme", 30);
      await queue(store, "beta", 30);
      await store.giveTurns(MANY);
      const [small] = await queue(store, "zeta", 1);
      await store.giveTurns(MANY);
      await store.keepPermits(batch.worker, []);
      await store.setLimit(TYPE, cap(6), null);

      expect(await claimable(store)).toContain(small);
    });

    test("finds a tenant in the middle of the queue, and one at the end at once", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await usedUp(store);
      await queue(store, "acme", 50);
      const [middle] = await queue(store, "beta", 1);
      await queue(store, "acme", 50);
      const [end] = await queue(store, "zeta", 1);
      await store.giveTurns(10);
      await store.keepPermits(batch.worker, []);
      await store.setLimit(TYPE, cap(2), null);
      expect(await claimable(store)).toContain(end);

      for (let look = 0; look < 10; look += 1) await store.giveTurns(10);
      await store.setLimit(TYPE, cap(6), null);
      expect(await claimable(store)).toContain(middle);
    });

    test("tenants start jobs in proportion to their weights", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await usedUp(store);
      await store.setFairness("general", { beta: 3 }, null);
      await queue(store, "acme", 40);
      await queue(store, "beta", 40);
      await store.giveTurns(MANY);
      await store.keepPermits(batch.worker, []);
      await store.setLimit(TYPE, cap(40), null);

      const { jobs } = await take(store);

      expect(jobs.filter(({ tenant }) => tenant === "beta").length).toBeGreaterThan(28);
    });

    test("a job has its due time in its record, its claim and when it comes back", async () => {
      await using db = await open();
      const { store, clock } = db;
      const batch = await usedUp(store);
      await queue(store, "acme", 20);
      await clock.advance(1_000);
      const [small, other] = await queue(store, "beta", 2);
      const due = clock.now();
      await clock.advance(1_000);
      await store.giveTurns(MANY);
      expect((await recordOf(store, small ?? "")).runAt).toBe(due);

      await store.removeLimit(TYPE);
      await store.release(MANY);
      await settleAll(store, batch, completed());
      expect((await recordOf(store, other ?? "")).heldBy).toBeNull();
      const { jobs } = await take(store);

      expect(jobs.map(({ id }) => id).slice(-2)).toEqual([small, other]);
      expect(jobs.at(-1)?.runAt).toBe(due);
    });

    test("a turn ends when the job goes behind a pause", async () => {
      await using db = await open();
      const { store } = db;
      const batch = await usedUp(store);
      await queue(store, "acme", 20);
      const [small] = await queue(store, "beta", 1);
      await store.giveTurns(MANY);
      await store.pause({ kind: "tenant", name: "beta" }, WHY);
      await store.keepPermits(batch.worker, []);
      expect(await store.hold(MANY)).toBe(1);
      expect((await recordOf(store, small ?? "")).heldBy).toMatchObject({ kind: "tenant" });
      await store.resume({ kind: "tenant", name: "beta" });
      await store.release(MANY);
      await store.giveTurns(MANY);
      await store.setLimit(TYPE, cap(3), null);

      expect(await claimable(store)).toContain(small);
    });
  });
}
