import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import { completed, newJobs } from "../../support/factories.ts";
import {
  add,
  addCrashed,
  claimable,
  claimRequest,
  joinWorker,
  recordOf,
  settleAll,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const MANY = 1_000;

/** The tenants of the next jobs, in the order of the claim. */
async function tenantsOf(store: JobStore, limit = 100): Promise<readonly string[]> {
  const worker = await joinWorker(store);
  const { jobs } = await store.claim(claimRequest(worker, { limit }));
  return jobs.map(({ tenant }) => tenant);
}

async function flood(
  store: JobStore,
  tenant: string,
  count: number,
  overrides: Partial<NewJob> = {},
): Promise<readonly JobId[]> {
  const jobs = newJobs(count, { tenant, ...overrides });
  await store.enqueue(jobs);
  return jobs.map(({ id }) => id);
}

/** A fair lane with a backlog of one tenant, and one job of another. */
async function twoTenants(store: JobStore): Promise<JobId> {
  await store.setFairness("general", {}, null);
  await flood(store, "acme", 20);
  await store.giveTurns(MANY);
  const [small] = await flood(store, "beta", 1);
  await store.giveTurns(MANY);
  return small ?? "";
}

export function fairnessSuite(open: OpenStore): void {
  describe("fairLanes", () => {
    test("lists what operators have set, by name", async () => {
      await using db = await open();
      const { store, clock } = db;

      await store.setFairness("general", { beta: 2, acme: 3 }, "ada");
      await store.setFairness("bulk", {}, null);

      const setAt = clock.now();
      expect(await store.fairLanes()).toEqual([
        { lane: "bulk", weights: {}, owner: "operator", by: null, setAt },
        { lane: "general", weights: { acme: 3, beta: 2 }, owner: "operator", by: "ada", setAt },
      ]);
      expect(await store.removeFairness("general")).toBe(true);
      expect(await store.removeFairness("general")).toBe(false);
      expect(await store.removeFairness("unknown")).toBe(false);
      expect(await store.fairLanes()).toHaveLength(1);
    });
  });

  describe("removeFairness", () => {
    test("goes back to what the code states", async () => {
      await using db = await open();
      const { store } = db;
      await store.declareFairness([{ lane: "general", weights: { acme: 3 } }]);
      await store.setFairness("general", { acme: 9 }, "ada");
      await store.declareFairness([{ lane: "general", weights: { acme: 4 } }]);

      expect(await store.fairLanes()).toMatchObject([{ weights: { acme: 9 }, owner: "operator" }]);
      expect(await store.removeFairness("general")).toBe(true);
      expect(await store.fairLanes()).toMatchObject([
        { weights: { acme: 4 }, owner: "code", by: null },
      ]);
      expect(await store.removeFairness("general")).toBe(false);
    });
  });

  describe("declareFairness", () => {
    test("stays behind what an operator has set", async () => {
      await using db = await open();
      const { store } = db;
      await store.setFairness("general", { acme: 9 }, "ada");
      await store.declareFairness([{ lane: "general", weights: { acme: 4 } }]);

      expect(await store.fairLanes()).toMatchObject([{ weights: { acme: 9 }, by: "ada" }]);
    });

    test("forgets what the code states no more, and nothing else", async () => {
      await using db = await open();
      const { store } = db;
      await store.declareFairness([
        { lane: "general", weights: {} },
        { lane: "bulk", weights: {} },
        { lane: "fast", weights: null },
      ]);
      await store.setFairness("bulk", {}, "ada");

      await store.declareFairness([
        { lane: "general", weights: null },
        { lane: "bulk", weights: null },
      ]);

      expect(await store.fairLanes()).toMatchObject([{ lane: "bulk", owner: "operator" }]);
      expect(await store.removeFairness("bulk")).toBe(true);
      expect(await store.fairLanes()).toEqual([]);
    });
  });

  describe("setFairness", () => {
    test("replaces the weights, and stores the person", async () => {
      await using db = await open();
      const { store } = db;
      await store.setFairness("general", { acme: 3 }, "ada");
      await store.setFairness("general", { beta: 2 }, "bob");

      expect(await store.fairLanes()).toMatchObject([{ weights: { beta: 2 }, by: "bob" }]);
    });

    test("refuses more fair lanes than the maximum", async () => {
      await using db = await open();
      const { store } = db;
      for (let lane = 0; lane < 100; lane += 1) await store.setFairness(`lane${lane}`, {}, null);

      await expect(store.setFairness("general", {}, null)).rejects.toMatchObject({
        code: "OPTION_INVALID",
      });
      await store.setFairness("lane7", { acme: 2 }, null);
      expect(await store.fairLanes()).toHaveLength(100);
    });
  });

  describe("giveTurns", () => {
    test("a flood of one tenant does not delay another by more than a job", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("general", {}, null);
      await flood(store, "acme", 50);
      await clock.advance(1_000);
      await flood(store, "beta", 3);

      // Three jobs of each tenant take turns. The other jobs are in a fair order already.
      expect(await store.giveTurns(MANY)).toEqual({ given: 6, more: false });

      const order = await tenantsOf(store, 6);
      expect(order.filter((tenant) => tenant === "beta")).toHaveLength(3);
    });

    test("a newcomer starts among the first of a backlog that has turns", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("general", {}, null);
      await flood(store, "acme", 100);
      await store.giveTurns(MANY);
      await settleAll(store, await take(store, { limit: 40 }), completed());
      await clock.advance(5_000);
      await flood(store, "beta", 5);

      await store.giveTurns(MANY);

      const first = await tenantsOf(store, 4);
      expect(first.filter((tenant) => tenant === "beta")).toHaveLength(2);
      expect((await tenantsOf(store, 100)).filter((tenant) => tenant === "beta").length).toBe(3);
    });

    test("a newcomer starts among the first of two tenants that take turns", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("general", {}, null);
      await flood(store, "acme", 50);
      await flood(store, "core", 50);
      await store.giveTurns(MANY);
      await settleAll(store, await take(store, { limit: 40 }), completed());
      await clock.advance(5_000);
      await flood(store, "beta", 5);

      await store.giveTurns(MANY);

      const first = await tenantsOf(store, 9);
      expect(first.filter((tenant) => tenant === "beta").length).toBeGreaterThanOrEqual(2);
    });

    test("tenants start jobs in proportion to their weights", async () => {
      await using db = await open();
      const { store } = db;
      await store.setFairness("general", { acme: 3 }, null);
      await flood(store, "acme", 100);
      await flood(store, "beta", 100);
      await store.giveTurns(MANY);

      const order = await tenantsOf(store, 80);

      expect(order.filter((tenant) => tenant === "acme")).toHaveLength(60);
    });

    test("priorities come first, and each has turns of its own", async () => {
      await using db = await open();
      const { store } = db;
      await store.setFairness("general", {}, null);
      await flood(store, "acme", 10, { priority: 200 });
      await flood(store, "acme", 10, { priority: 50 });
      await flood(store, "beta", 2, { priority: 200 });
      await flood(store, "beta", 2, { priority: 50 });
      await store.giveTurns(MANY);

      const worker = await joinWorker(store);
      const { jobs } = await store.claim(claimRequest(worker));

      const places = jobs.map(({ tenant, priority }) => `${tenant} ${priority}`);
      expect(places.slice(0, 4).filter((place) => place === "beta 50")).toHaveLength(2);
      expect(places.slice(12, 16).filter((place) => place === "beta 200")).toHaveLength(2);
    });

    test("lanes that are not fair stay in the order of due times", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("bulk", {}, null);
      await flood(store, "acme", 10);
      await flood(store, "acme", 10, { lane: "bulk" });
      await clock.advance(1_000);
      await flood(store, "beta", 1);
      await flood(store, "beta", 1, { lane: "bulk" });

      expect(await store.giveTurns(MANY)).toEqual({ given: 2, more: false });

      const general = await claimable(store, { lanes: ["general"] });
      expect((await recordOf(store, general.at(-1) ?? "")).tenant).toBe("beta");
      const bulk = await claimable(store, { lanes: ["bulk"], limit: 2 });
      const tenants = await Promise.all(bulk.map((id) => recordOf(store, id)));
      expect(tenants.map(({ tenant }) => tenant)).toContain("beta");
    });

    test("leaves jobs that are in a fair order without turns", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("general", {}, null);
      const ids = await flood(store, "acme", 10);
      await clock.advance(1_000);

      expect(await store.giveTurns(4)).toEqual({ given: 0, more: false });
      expect(await claimable(store)).toEqual(ids);

      for (let round = 0; round < 5; round += 1) {
        for (const tenant of ["acme", "beta", "core"]) await flood(store, tenant, 1);
      }
      expect(await store.giveTurns(MANY)).toEqual({ given: 0, more: false });
    });

    test("looks at as many of the oldest jobs as asked, and says that more wait", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("general", {}, null);
      await flood(store, "acme", 10);
      await clock.advance(1_000);
      await flood(store, "beta", 10);

      expect(await store.giveTurns(4)).toEqual({ given: 6, more: true });
      while ((await store.giveTurns(4)).more);

      const order = await tenantsOf(store, 10);
      expect(order.filter((tenant) => tenant === "beta").length).toBeGreaterThanOrEqual(4);
    });

    test("finds a tenant in the middle of a backlog", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("general", {}, null);
      await flood(store, "acme", 100);
      await clock.advance(1_000);
      const small = await flood(store, "beta", 3);
      await clock.advance(1_000);
      await flood(store, "acme", 100);
      let calls = 0;

      for (; (await store.giveTurns(5)).more; calls += 1);

      expect(calls).toBeLessThanOrEqual(21);
      const first = await claimable(store, { limit: 8 });
      expect(small.every((id) => first.includes(id))).toBe(true);
    });

    test.each([1, 10])(
      "finds a tenant in a long backlog soon, with %i fair lanes",
      async (lanes) => {
        await using db = await open();
        const { store, clock } = db;
        for (let lane = 0; lane < lanes; lane += 1) {
          await store.setFairness(`lane-${lane}`, {}, null);
          if (lane > 0) await flood(store, "acme", 30, { lane: `lane-${lane}` });
        }
        const general = { lane: "lane-0" };
        await flood(store, "acme", 1_500, general);
        await clock.advance(1_000);
        const [small] = await flood(store, "beta", 1, general);
        await clock.advance(1_000);
        await flood(store, "acme", 200, general);

        for (let look = 0; look < 6; look += 1) await store.giveTurns(100);

        expect(await claimable(store, { lanes: ["lane-0"], limit: 3 })).toContain(small);
      },
    );

    test("finds a tenant that has few of the oldest jobs, and many later ones", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("general", {}, null);
      await flood(store, "beta", 1);
      await flood(store, "acme", 100);
      await clock.advance(1_000);
      await flood(store, "beta", 20);

      while ((await store.giveTurns(10)).more);

      const order = await tenantsOf(store, 20);
      expect(order.filter((tenant) => tenant === "beta").length).toBeGreaterThanOrEqual(9);
    });

    test("a tenant behind a backlog without turns does not wait for all of it", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("general", {}, null);
      await flood(store, "acme", 30);
      await clock.advance(1_000);
      const small = await flood(store, "beta", 3);
      await clock.advance(1_000);
      await flood(store, "acme", 1);

      expect(await store.giveTurns(5)).toEqual({ given: 6, more: true });

      const first = await claimable(store, { limit: 6 });
      expect(small.every((id) => first.includes(id))).toBe(true);
    });

    test("jobs without a turn are claimed after those with one", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("general", {}, null);
      await clock.advance(10_000);
      const first = await flood(store, "acme", 3);
      await store.giveTurns(MANY);
      const later = await flood(store, "beta", 3);

      expect(await claimable(store)).toEqual([...first, ...later]);
    });

    test("claims see turns that are given below the jobs they have taken", async () => {
      await using db = await open();
      const { store, clock } = db;
      const other = await db.another();
      await store.setFairness("general", {}, null);
      await flood(store, "acme", 50);
      await store.giveTurns(MANY);
      const worker = await joinWorker(store);
      for (let round = 0; round < 5; round += 1) {
        await store.claim(claimRequest(worker, { limit: 5 }));
      }
      await clock.advance(1);
      await flood(other, "beta", 1);
      await other.giveTurns(MANY);
      await db.heardAll(store);

      const { jobs } = await store.claim(claimRequest(worker, { limit: 3 }));
      expect(jobs.map(({ tenant }) => tenant)).toContain("beta");
    });

    test("two handles give each job at most one turn", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      await store.setFairness("general", {}, null);
      await flood(store, "acme", 200);
      await flood(store, "beta", 200);
      const given: number[] = [];
      const all = async (handle: JobStore): Promise<void> => {
        for (let call = 0; call < 12; call += 1) given.push((await handle.giveTurns(50)).given);
      };

      await Promise.all([all(store), all(other)]);
      while ((await store.giveTurns(MANY)).more);

      expect(given.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(400);
      const order = await tenantsOf(store, 100);
      const share = order.filter((tenant) => tenant === "acme").length;
      expect(Math.abs(share - 50)).toBeLessThanOrEqual(1);
    });

    test("claims and turns at the same time take no job twice", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      await store.setFairness("general", {}, null);
      const ids = [...(await flood(store, "acme", 300)), ...(await flood(store, "beta", 300))];
      const worker = await joinWorker(store);
      const taken: JobId[] = [];
      const claims = async (handle: JobStore): Promise<void> => {
        for (let round = 0; round < 40; round += 1) {
          const { jobs } = await handle.claim(claimRequest(worker, { limit: 10 }));
          taken.push(...jobs.map(({ id }) => id));
        }
      };
      const turns = async (): Promise<void> => {
        for (let round = 0; round < 40; round += 1) await other.giveTurns(20);
      };

      await Promise.all([claims(store), claims(other), turns()]);
      taken.push(...(await claimable(store, { worker, limit: 500 })));
      taken.push(...(await claimable(store, { worker, limit: 500 })));

      expect(taken.toSorted()).toEqual(ids.toSorted());
    });

    test("jobs that have crashed before keep their order", async () => {
      await using db = await open();
      const { store } = db;
      const crashed = await addCrashed(store, 1, { tenant: "beta" });
      await store.setFairness("general", {}, null);
      await flood(store, "acme", 5);

      await flood(store, "beta", 1);

      expect(await store.giveTurns(MANY)).toEqual({ given: 2, more: false });
      expect((await claimable(store))[0]).toBe(crashed);
    });

    test("promote says that jobs wait without a turn in a fair lane", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      expect((await store.promote(100)).waiting.fair).toBe(false);
      await store.setFairness("general", {}, null);
      expect((await store.promote(100)).waiting.fair).toBe(true);
      await take(store);
      expect((await store.promote(100)).waiting.fair).toBe(false);
      await add(store, { due: { delayMs: 1_000 } });
      await clock.advance(1_000);
      expect((await store.promote(100)).waiting.fair).toBe(true);
    });

    test("turns that were given stay when the lane is fair no more", async () => {
      await using db = await open();
      const { store } = db;
      const small = await twoTenants(store);
      await store.removeFairness("general");
      await flood(store, "acme", 3);

      expect((await store.promote(1)).waiting.fair).toBe(false);
      expect(await store.giveTurns(MANY)).toEqual({ given: 0, more: false });
      expect(await claimable(store, { limit: 3 })).toContain(small);
      expect(await claimable(store)).toHaveLength(21);
    });
  });

  describe("a job with a turn", () => {
    test("has its due time in its record, its claim and its wait", async () => {
      await using db = await open();
      const { store, clock } = db;
      const due = clock.now();
      const small = await twoTenants(store);
      await clock.advance(4_000);

      expect((await recordOf(store, small)).runAt).toBe(due);
      expect(await store.stats(MANY)).toMatchObject({ queued: 21, oldestQueuedMs: 4_000 });
      const batch = await take(store, { limit: 3 });
      expect(batch.jobs.map(({ runAt }) => runAt)).toEqual([due, due, due]);
      await clock.advance(1_000);
      await settleAll(store, batch, completed());
      await store.foldMinutes(MANY);
      const { figures } = await store.minutes({ from: 0, to: due + 120_000, stepMs: null });
      expect(figures).toMatchObject([{ count: 3, waitMs: 12_000 }]);
    });

    test("counts as the oldest where the rows are too many to be read", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("general", {}, null);
      await flood(store, "acme", 2);
      await clock.advance(3_000);
      await flood(store, "acme", 2);
      await store.giveTurns(MANY);
      await clock.advance(1_000);
      await flood(store, "acme", 2);
      await clock.advance(1_000);

      expect((await store.stats(1)).oldestQueuedMs).toBe(5_000);
      await store.pause({ kind: "type", name: "unknown" }, { reason: "late", by: null });
      expect((await store.stats(MANY)).oldestQueuedMs).toBe(5_000);
      await settleAll(store, await take(store, { limit: 4 }), completed());
      expect((await store.stats(1)).oldestQueuedMs).toBe(1_000);
    });

    test("goes behind a gate and comes back with its due time", async () => {
      await using db = await open();
      const { store, clock } = db;
      const due = clock.now();
      const small = await twoTenants(store);
      const gate = { kind: "tenant", name: "beta" } as const;
      await store.pause(gate, { reason: "late", by: null });
      expect(await store.hold(MANY)).toBe(1);
      expect((await recordOf(store, small)).runAt).toBe(due);
      await clock.advance(1_000);
      await store.resume(gate);
      expect(await store.release(MANY)).toBe(1);
      expect((await recordOf(store, small)).runAt).toBe(due);

      expect(await store.giveTurns(MANY)).toEqual({ given: 2, more: false });
      expect(await claimable(store, { limit: 4 })).toContain(small);
    });

    test("is not claimed while its tenant is paused, and others are", async () => {
      await using db = await open();
      const { store } = db;
      await twoTenants(store);
      await store.pause({ kind: "tenant", name: "acme" }, { reason: "late", by: null });

      expect(await tenantsOf(store)).toEqual(["beta"]);
    });

    test("waits for its concurrency key, and gets a near turn when it comes back", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("general", {}, null);
      const [first] = await add(store, { tenant: "acme", concurrencyKey: "k" });
      const holder = await takeOne(store);
      expect(holder.job.id).toBe(first);
      const [second] = await add(store, { tenant: "acme", concurrencyKey: "k" });
      await store.giveTurns(MANY);
      expect(await store.hold(MANY)).toBe(1);
      await clock.advance(1_000);
      await flood(store, "acme", 20);
      await store.giveTurns(MANY);

      await settleAll(store, holder, completed());
      await store.release(MANY);
      await store.giveTurns(MANY);

      expect(await claimable(store, { limit: 3 })).toContain(second);
    });

    test("in the queue of a limit comes before the backlog when there is a permit", async () => {
      await using db = await open();
      const { store } = db;
      await store.setFairness("general", {}, null);
      await store.setLimit({ kind: "type", name: "report" }, { concurrency: 1, rate: null }, null);
      await add(store, { type: "report" });
      const worker = await joinWorker(store);
      const holder = await takeOne(store, { worker });
      const [second] = await add(store, { type: "report" });
      await store.giveTurns(MANY);
      expect(await store.hold(MANY)).toBe(1);
      const due = (await recordOf(store, second)).runAt;
      await flood(store, "acme", 20);
      await store.giveTurns(MANY);
      await settleAll(store, holder, completed());
      await store.keepPermits(worker, []);

      const next = await takeOne(store);

      expect(next.job).toMatchObject({ id: second, runAt: due });
    });

    test("comes back from a prefetch with its due time", async () => {
      await using db = await open();
      const { store, clock } = db;
      const due = clock.now();
      await twoTenants(store);
      await clock.advance(1_000);
      const worker = await joinWorker(store);
      const claim = await store.claim(claimRequest(worker, { limit: 5, prefetch: true }));
      const keys = claim.jobs.map(({ key }) => key);
      expect(await store.returnPrefetched(claim.lease ?? { number: 0, secret: "" }, keys)).toBe(5);

      expect(await store.giveTurns(MANY)).toEqual({ given: 2, more: false });
      const batch = await take(store);
      expect(batch.jobs).toHaveLength(21);
      expect(new Set(batch.jobs.map(({ runAt }) => runAt))).toEqual(new Set([due]));
    });

    test("can be cancelled, and counts the jobs that come before it", async () => {
      await using db = await open();
      const { store } = db;
      const small = await twoTenants(store);

      const ahead = await store.countAhead(small, MANY);
      expect(ahead?.jobs).toBeLessThanOrEqual(2);
      expect(await store.cancel(small, null, null)).toEqual({ status: "cancelled" });
      expect(await claimable(store)).toHaveLength(20);
    });
  });

  describe("claim, with olderThanMs", () => {
    test("takes the job that has waited longest, whatever its priority", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [low] = await add(store, { priority: 500 });
      await clock.advance(60_000);
      const urgent = await flood(store, "acme", 5, { priority: 10 });

      expect(await claimable(store, { limit: 1, olderThanMs: 60_000 })).toEqual([urgent[0]]);
      expect(await claimable(store, { limit: 1, olderThanMs: 59_999 })).toEqual([low]);
      expect(await claimable(store, { limit: 2, olderThanMs: 0 })).toEqual(urgent.slice(1, 3));
    });

    test("looks at the lanes of the claim only, and at jobs with turns", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setFairness("general", {}, null);
      await add(store, { priority: 500, lane: "bulk" });
      await clock.advance(1_000);
      const [low] = await add(store, { priority: 400 });
      await store.giveTurns(MANY);
      await clock.advance(60_000);
      await flood(store, "acme", 5, { priority: 10 });
      await store.giveTurns(MANY);

      const found = await claimable(store, { lanes: ["general"], limit: 1, olderThanMs: 30_000 });
      expect(found).toEqual([low]);
    });

    test("takes the next oldest where no job of the oldest class can be taken", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { priority: 500, type: "unknown" });
      await clock.advance(1_000);
      const [low] = await add(store, { priority: 900 });
      await clock.advance(60_000);
      const [urgent] = await add(store, { priority: 10 });
      const wanted = { types: ["email"], limit: 1, olderThanMs: 1_000 };

      expect(await claimable(store, wanted)).toEqual([low]);
      expect(await claimable(store, wanted)).toEqual([urgent]);
    });

    test("takes an old job from the queue of a limit, and no more urgent one there", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setLimit({ kind: "type", name: "email" }, { concurrency: 1, rate: null }, null);
      await add(store, {});
      const { worker } = await takeOne(store);
      const [low] = await add(store, { priority: 900 });
      await clock.advance(60_000);
      const urgent = await flood(store, "acme", 3, { priority: 10 });
      expect(await store.hold(MANY)).toBe(4);
      await store.keepPermits(worker, []);
      await store.setLimit({ kind: "type", name: "email" }, { concurrency: 2, rate: null }, null);

      expect(await claimable(store, { limit: 1, olderThanMs: 1_000 })).toEqual([low]);
      expect(await claimable(store, { limit: 1, olderThanMs: 1_000 })).toEqual([urgent[0]]);
    });

    test.each(["ready", "the queue of a limit"])(
      "takes an old job with a turn from %s",
      async (place) => {
        await using db = await open();
        const { store, clock } = db;
        const email = { kind: "type", name: "email" } as const;
        await store.setFairness("general", {}, null);
        await store.setLimit(email, { concurrency: place === "ready" ? 9 : 1, rate: null }, null);
        await add(store, {});
        const { worker } = await takeOne(store);
        const [old] = await flood(store, "acme", 1, { priority: 900 });
        await clock.advance(50_000);
        await flood(store, "acme", 20, { priority: 900 });
        await flood(store, "beta", 1, { priority: 900 });
        await store.hold(MANY);
        expect((await store.giveTurns(MANY)).given).toBe(2);
        await clock.advance(10_000);
        await flood(store, "acme", 3, { priority: 10 });
        await store.keepPermits(worker, []);

        // All jobs without a turn have been due for ten seconds.
        expect(await claimable(store, { limit: 1, olderThanMs: 30_000 })).toEqual([old]);
      },
    );

    test("claims as usual where no job of the class can be taken", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { priority: 500, type: "unknown" });
      await clock.advance(60_000);
      const [urgent] = await add(store, { priority: 10 });

      const found = await claimable(store, { types: ["email"], limit: 1, olderThanMs: 1_000 });
      expect(found).toEqual([urgent]);
      expect(await claimable(store, { types: ["email"], olderThanMs: 1_000 })).toEqual([]);
    });
  });
}
