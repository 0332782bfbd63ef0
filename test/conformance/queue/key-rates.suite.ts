/** The rate of a concurrency key: how many of its jobs may start in a period. */
import { describe, expect, test } from "vitest";
import { LONE_DEATHS_MAX, PROBE_MS_MIN } from "../../../src/core/crashes.ts";
import { completed, diedAlone } from "../../support/factories.ts";
import {
  add,
  addCrashed,
  claimable,
  claimableAlone,
  claimRequest,
  joinWorker,
  recordOf,
  rescueSilent,
  settleAll,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { OpenStore } from "../../support/stores.ts";
import { OPEN_MS, outage, probe, uses } from "../services/scene.ts";

const KEY = { kind: "key", name: "box-7", tenant: "default" } as const;
const KEYED = { concurrencyKey: "box-7" } as const;
const RATE = { concurrency: null, rate: { count: 2, perMs: 1_000, burst: 2 } } as const;

const ONCE = { concurrency: null, rate: { count: 1, perMs: 1_000, burst: 1 } } as const;

/** Claims the next job of all lanes, completes it, and answers its id. */
async function runNext(store: JobStore): Promise<readonly string[]> {
  const worker = await joinWorker(store);
  const { lease, jobs } = await store.claim(claimRequest(worker));
  if (lease !== null) await settleAll(store, { worker, lease, jobs }, completed());
  return jobs.map(({ id }) => id);
}

/** Uses the only token of so many keys for an hour. Answers jobs of these keys. */
async function spendKeys(store: JobStore, count: number) {
  const keys = Array.from({ length: count }, (_, index) => ({
    concurrencyKey: `key-${index + 1}`,
  }));
  const rate = { count: 1, perMs: 3_600_000, burst: 1 };
  for (const { concurrencyKey: name } of keys) {
    await store.setLimit({ ...KEY, name }, { concurrency: null, rate }, null);
  }
  await add(store, ...keys.map((key) => ({ ...key, type: "push", lane: "spent" })));
  const batch = await take(store, { lanes: ["spent"] });
  await settleAll(store, batch, completed());
  return keys;
}

export function keyRatesSuite(open: OpenStore): void {
  describe("claim, with rates of keys", () => {
    test("starts a job of the key per token, and none without one", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setLimit(KEY, RATE, "ann");
      const ids = await add(store, KEYED, KEYED, KEYED, KEYED);

      expect(await runNext(store)).toEqual([ids[0]]);
      expect(await runNext(store)).toEqual([ids[1]]);
      expect(await runNext(store)).toEqual([]);
      expect(await store.limits()).toMatchObject([
        { ...KEY, concurrency: null, rate: RATE.rate, nextTokenMs: 500, by: "ann" },
      ]);
      await clock.advance(499);
      await store.release(10);
      expect(await runNext(store)).toEqual([]);
      await clock.advance(1);
      await store.release(10);
      expect(await runNext(store)).toEqual([ids[2]]);
      expect(await runNext(store)).toEqual([]);
    });

    test("takes other keys, and the same key of another tenant", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(KEY, ONCE, null);
      await add(store, KEYED);
      await runNext(store);
      const [, other, acme, free] = await add(
        store,
        KEYED,
        { concurrencyKey: "box-8" },
        { ...KEYED, tenant: "acme" },
        {},
      );

      expect(await claimable(store)).toEqual([other, acme, free]);
    });

    test("looks behind jobs whose key has no token", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(KEY, RATE, null);
      await add(store, KEYED, KEYED);
      await runNext(store);
      await runNext(store);
      const [, , free] = await add(store, KEYED, KEYED, {});
      await claimable(store, { limit: 1 });

      expect(await claimable(store, { limit: 1 })).toEqual([free]);
    });

    test("takes no token of the type for a job that the rate of its key holds back", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(KEY, ONCE, null);
      const rate = { count: 3, perMs: 3_600_000, burst: 3 };
      await store.setLimit({ kind: "type", name: "email" }, { concurrency: null, rate }, null);
      await add(store, KEYED);
      await runNext(store);
      await add(store, KEYED);
      expect(await claimable(store)).toEqual([]);
      const free = await add(store, {}, {});

      expect(await claimable(store)).toEqual(free);
    });

    test("leaves the key to others if the job has no permit of a limit", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit({ kind: "type", name: "email" }, { ...ONCE, concurrency: 1 }, null);
      const [first] = await add(store, {}, KEYED);
      expect(await claimable(store)).toEqual([first]);
      const [sms] = await add(store, { ...KEYED, type: "sms" });

      expect(await claimable(store)).toEqual([sms]);
    });

    test("gives no token twice to claims that race with each other", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(KEY, RATE, null);
      await add(store, ...Array.from({ length: 20 }, () => KEYED));
      const workers = await Promise.all(Array.from({ length: 6 }, () => joinWorker(store)));
      let started = 0;
      for (let round = 0; round < 5; round += 1) {
        const claims = await Promise.all(
          workers.map((worker) => store.claim(claimRequest(worker, { limit: 3 }))),
        );
        for (const [index, { lease, jobs }] of claims.entries()) {
          started += jobs.length;
          const worker = workers[index] ?? "";
          if (lease !== null) await settleAll(store, { worker, lease, jobs }, completed());
        }
      }

      expect(started).toBe(2);
    });

    test("runs no job alone, and no probe, without a token", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      const once = { concurrency: null, rate: { count: 1, perMs: 10 * OPEN_MS, burst: 1 } };
      await store.setLimit(KEY, once, null);
      await add(store, { ...KEYED, type: "sms" });
      await runNext(store);
      await add(store, KEYED);
      await outage(store);
      await clock.advance(OPEN_MS);
      expect(await probe(store)).toBeNull();
      await clock.advance(10 * OPEN_MS);
      await store.release(10);

      expect(await probe(store)).not.toBeNull();
      expect(await store.limits()).toMatchObject([{ nextTokenMs: 10 * OPEN_MS }]);
    });

    test.each(["held", "not held"])("takes the probe behind spent keys: %s", async (place) => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      const keys = await spendKeys(store, 3);
      await add(store, ...keys);
      const [free] = await add(store, {});
      await outage(store);
      if (place === "held") await store.hold(10);
      await clock.advance(OPEN_MS);

      expect((await probe(store))?.job.id).toBe(free);
    });

    test("takes the lone job behind spent keys", async () => {
      await using db = await open();
      const { store } = db;
      const names = [1, 2, 3].map((number) => ({ concurrencyKey: `key-${number}` }));
      for (const named of names) await addCrashed(store, 3, { ...named, priority: 1 });
      const free = await addCrashed(store, 3, { priority: 2 });
      await spendKeys(store, 3);

      expect(await claimableAlone(store)).toBe(free);
    });

    test.each(["held", "not held"])(
      "takes the probe of a type behind spent keys: %s",
      async (place) => {
        await using db = await open();
        const { store, clock } = db;
        for (let count = 0; count < LONE_DEATHS_MAX; count += 1) {
          await add(store, {});
          const { worker } = await takeOne(store);
          await store.deregister(worker);
          await rescueSilent(store, worker, { decide: () => diedAlone() });
        }
        await add(store, ...(await spendKeys(store, 3)));
        const [free] = await add(store, {});
        if (place === "held") await store.hold(10);
        await clock.advance(PROBE_MS_MIN);

        expect(await claimableAlone(store)).toBe(free);
      },
    );

    test("takes the token of a job that runs alone", async () => {
      await using db = await open();
      const { store } = db;
      const id = await addCrashed(store, 3, KEYED);
      await store.setLimit(KEY, RATE, null);
      const worker = await joinWorker(store);

      const lone = await store.claimAlone({ worker, lanes: "any", cap: 3 });

      expect(lone?.job.id).toBe(id);
      expect(await store.limits()).toMatchObject([{ nextTokenMs: 0 }]);
      await store.setLimit(KEY, ONCE, null);
      expect(await store.limits()).toMatchObject([{ nextTokenMs: 0 }]);
    });
  });

  describe("limits of a job", () => {
    test("has the rate of its key and no other, with the jobs that wait", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit({ kind: "type", name: "sms" }, ONCE, null);
      await store.setLimit({ ...KEY, tenant: "acme" }, ONCE, null);
      await store.setLimit({ ...KEY, name: "box-8" }, ONCE, null);
      await store.setLimit(KEY, ONCE, null);
      await add(store, KEYED, KEYED);
      await runNext(store);
      await runNext(store);
      await store.hold(10);
      const own = { tenant: "default", concurrencyKey: "box-7" };

      const limits = await store.limits(own);

      expect(limits).toMatchObject([
        { ...KEY, waiting: 1 },
        { kind: "type", name: "sms" },
      ]);
      expect(await store.limits()).toEqual(expect.arrayContaining([...limits]));
      const names = async (job: typeof own | { tenant: string; concurrencyKey: null }) =>
        (await store.limits(job)).map(({ name }) => name);
      expect(await names({ ...own, concurrencyKey: null })).toEqual(["sms"]);
      expect(await names({ ...own, concurrencyKey: "box-9" })).toEqual(["sms"]);
      expect(await names({ ...own, tenant: "bolt" })).toEqual(["sms"]);
    });
  });

  describe("a key without a token", () => {
    test("blocks its jobs until it has one, and a poll knows when", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setLimit(KEY, RATE, null);
      const [, , third] = await add(store, KEYED, KEYED, KEYED);
      await runNext(store);
      await runNext(store);
      await runNext(store);
      expect(await store.hold(10)).toBe(1);
      expect(await recordOf(store, third)).toMatchObject({ heldBy: { kind: "key" } });
      expect(await store.limits()).toMatchObject([{ waiting: 1 }]);
      expect(await store.lockHolder("default", "box-7")).toBeNull();
      expect(await store.release(10)).toBe(0);
      expect(await store.promote(10)).toMatchObject({
        nextDueMs: 500,
        waiting: { released: false },
      });

      await clock.advance(500);

      expect(await store.promote(10)).toMatchObject({
        nextDueMs: null,
        waiting: { released: true },
      });
      await store.release(10);
      expect((await store.promote(10)).waiting.released).toBe(false);
      expect(await runNext(store)).toEqual([third]);
    });

    test("is free for a unit that asks for its lock", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(KEY, RATE, null);
      const [, , third] = await add(store, KEYED, KEYED, KEYED);
      await runNext(store);
      await runNext(store);
      await runNext(store);
      await add(store, {});
      const { lease, jobs } = await take(store);
      const [job] = jobs;
      const run = { lease, key: job?.key ?? 0, n: 1 };

      const acquired = await store.acquireLocks(run, ["box-7"]);

      expect(acquired).toEqual({ status: "done", names: ["box-7"] });
      expect(await store.lockHolder("default", "box-7")).toBe(job?.id);
      expect(await claimable(store)).toEqual([]);
      expect(await recordOf(store, third)).toMatchObject({ state: "queued" });
    });

    test.each([
      ["a raise", (store: JobStore) => store.setLimit(KEY, RAISED, null)],
      ["the removal", (store: JobStore) => store.removeLimit(KEY)],
    ])("lets its jobs start after %s of the rate", async (_, change) => {
      await using db = await open();
      const { store } = db;
      const slow = { concurrency: null, rate: { count: 1, perMs: 3_600_000, burst: 1 } };
      await store.setLimit(KEY, slow, null);
      const [, second, third] = await add(store, KEYED, KEYED, KEYED);
      await runNext(store);
      await runNext(store);
      await store.hold(10);

      await change(store);

      expect(await runNext(store)).toEqual([second]);
      expect(await runNext(store)).toEqual([third]);
    });

    test("stays without one if the same rate is set again", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(KEY, RATE, null);
      await add(store, KEYED, KEYED, KEYED);
      await runNext(store);
      await runNext(store);

      await store.setLimit(KEY, RATE, null);

      expect(await runNext(store)).toEqual([]);
      expect(await store.removeLimit(KEY)).toBe(true);
      expect(await store.removeLimit(KEY)).toBe(false);
      expect(await store.limits()).toEqual([]);
    });
  });
}

const RAISED = { concurrency: null, rate: { count: 10, perMs: 1_000, burst: 10 } } as const;
