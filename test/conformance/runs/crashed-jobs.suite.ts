/** Jobs that have crashed before: how many of them a claim takes. */
import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { CrashedLimits } from "../../../src/store/types/jobs-and-runs.ts";
import { completed, crashedTimes, newJobs, runAgain, workerId } from "../../support/factories.ts";
import {
  add,
  addCrashed,
  claimable,
  claimRequest,
  joinWorker,
  settleAll,
  settleItem,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const NONE: CrashedLimits = { once: 0, often: 0, cap: 4 };

export function crashedJobsSuite(open: OpenStore): void {
  describe("claim of crashed jobs", () => {
    test("takes at most as many of each kind as asked, the most urgent ones", async () => {
      await using db = await open();
      const { store } = db;
      const once = await crashedMany(store, 1, [5, 3, 4]);
      const often = await crashedMany(store, 2, [9, 8, 7]);
      const thrice = await addCrashed(store, 3, { priority: 6 });
      const [fresh] = await add(store, { priority: 10 });

      const taken = await claimable(store, { crashed: { once: 1, often: 2, cap: 4 } });

      expect(taken).toEqual([once[1], thrice, often[2], fresh]);
    });

    test("takes crashed jobs before fresh ones of the same priority", async () => {
      await using db = await open();
      const { store } = db;
      const [urgent] = await add(store, { priority: 1 });
      const [first] = await add(store, { priority: 2 });
      const crashed = await addCrashed(store, 1, { priority: 2 });

      const taken = await claimable(store, { crashed: { once: 1, often: 1, cap: 4 } });

      expect(taken).toEqual([urgent, crashed, first]);
    });

    test("takes more with one crash than with several, if so asked", async () => {
      await using db = await open();
      const { store } = db;
      const once = await crashedMany(store, 1, [1, 2, 3]);
      const often = await crashedMany(store, 2, [4, 5]);

      const taken = await claimable(store, { crashed: { once: 2, often: 1, cap: 4 } });

      expect(taken).toEqual([once[0], once[1], often[0]]);
    });

    test("leaves the others to the next claim", async () => {
      await using db = await open();
      const { store } = db;
      const [first, second] = await crashedMany(store, 1, [1, 2]);
      const crashed = { once: 1, often: 1, cap: 4 };

      expect(await claimable(store, { crashed })).toEqual([first]);
      expect(await claimable(store, { crashed })).toEqual([second]);
    });

    test("takes none where the limits are zero, and fresh jobs all the same", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 1, { priority: 1 });
      await addCrashed(store, 2, { priority: 1 });
      const [fresh] = await add(store, { priority: 2 });

      expect(await claimable(store, { crashed: NONE })).toEqual([fresh]);
      expect(await claimable(store, { crashed: NONE })).toEqual([]);
    });

    test("counts the limits over all lanes", async () => {
      await using db = await open();
      const { store } = db;
      const lanes = ["a", "b", "c"];
      const ids: JobId[] = [];
      for (const [index, lane] of lanes.entries()) {
        ids.push(await addCrashed(store, 1, { lane, priority: 3 - index }));
      }
      const crashed = { once: 1, often: 1, cap: 4 };

      expect(await claimable(store, { lanes: ["a", "b"], crashed })).toEqual([ids[1]]);
      expect(await claimable(store, { lanes: "any", crashed })).toEqual([ids[2]]);
    });

    test("finds crashed jobs in each of its lanes", async () => {
      await using db = await open();
      const { store } = db;
      const [fresh] = await add(store, { lane: "a", priority: 3 });
      const [b, c] = [
        await addCrashed(store, 1, { lane: "b", priority: 2 }),
        await addCrashed(store, 1, { lane: "c", priority: 1 }),
      ];
      const crashed = { once: 1, often: 1, cap: 4 };

      expect(await claimable(store, { lanes: ["a", "b"], limit: 1, crashed })).toEqual([b]);
      expect(await claimable(store, { limit: 1, crashed })).toEqual([c]);
      expect(await claimable(store, { crashed })).toEqual([fresh]);
    });

    test("takes no more than its limit in all", async () => {
      await using db = await open();
      const { store } = db;
      const once = await crashedMany(store, 1, [1, 2, 3]);
      const often = await addCrashed(store, 2, { priority: 2 });
      await add(store, { priority: 3 });

      const taken = await claimable(store, { limit: 3, crashed: { once: 9, often: 9, cap: 4 } });

      expect(taken).toEqual([once[0], once[1], often]);
    });

    test("takes fresh jobs behind many that it must leave", async () => {
      await using db = await open();
      const { store } = db;
      const once = await crashedMany(store, 1, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      const fresh = await add(store, {}, {}, {});

      const taken = await claimable(store, { limit: 4, crashed: { once: 1, often: 1, cap: 4 } });

      expect(taken).toEqual([once[0], ...fresh]);
    });

    test("takes none that has reached the cap", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3);
      const often = await addCrashed(store, 2);
      await addCrashed(store, 4);
      const once = await addCrashed(store, 1);

      expect(await claimable(store, { crashed: { once: 9, often: 9, cap: 1 } })).toEqual([]);
      expect(await claimable(store, { crashed: { once: 9, often: 9, cap: 2 } })).toEqual([once]);
      expect(await claimable(store, { crashed: { once: 9, often: 9, cap: 3 } })).toEqual([often]);
    });

    test("takes all of them where no limits are named", async () => {
      await using db = await open();
      const { store } = db;
      const once = await crashedMany(store, 1, [1, 4]);
      const ten = await addCrashed(store, 10, { priority: 3 });
      const [fresh] = await add(store, { priority: 2 });

      expect(await claimable(store)).toEqual([once[0], fresh, ten, once[1]]);
    });

    test("looks beyond crashed jobs that share a key, where no limits are named", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { lane: "a" }, { lane: "a" });
      await clock.advance(10);
      await addCrashed(store, 1, { lane: "a", concurrencyKey: "k" });
      const first = await addCrashed(store, 1, { lane: "a", concurrencyKey: "k", priority: 1 });
      const second = await addCrashed(store, 1, { lane: "a" });

      expect(await claimable(store, { limit: 2 })).toEqual([first, second]);
    });

    test("takes none for a prefetch, also with high limits", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 1, { priority: 1 });
      await addCrashed(store, 2, { priority: 1 });
      const [fresh] = await add(store, {});

      const crashed = { once: 9, often: 9, cap: 9 };
      expect(await claimable(store, { prefetch: true, crashed })).toEqual([fresh]);
      expect(await claimable(store, { prefetch: true })).toEqual([]);
    });

    test("takes only the lanes, types and tenants asked for", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 1, { lane: "bulk", type: "sms", tenant: "acme", priority: 1 });
      const wanted = await addCrashed(store, 1, { lane: "fast", type: "push", tenant: "bolt" });
      const crashed = { once: 9, often: 9, cap: 4 };

      for (const filter of [{ lanes: ["fast"] }, { types: ["push"] }, { tenants: ["bolt"] }]) {
        const batch = await takeOne(store, { ...filter, crashed });
        expect(batch.job.id).toBe(wanted);
        await settleAll(store, batch, { ...runAgain(), crashes: 1 });
      }
    });

    test.each([
      { kind: "type", name: "analysis" },
      { kind: "tenant", name: "acme" },
      { kind: "lane", name: "bulk" },
    ] as const)("takes none behind a closed $kind", async (gate) => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 1, { type: "analysis", tenant: "acme", lane: "bulk", priority: 1 });
      const other = await addCrashed(store, 1, { priority: 2 });

      await store.pause(gate, { reason: "maintenance", by: null });

      const crashed = { once: 1, often: 1, cap: 4 };
      expect(await claimable(store, { crashed })).toEqual([other]);
    });

    test("takes none whose key is locked", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 1, { lane: "a", concurrencyKey: "k", priority: 2 });
      const [holder] = await add(store, { lane: "b", concurrencyKey: "k", priority: 1 });
      const other = await addCrashed(store, 1, { lane: "c", priority: 3 });
      const crashed = { once: 1, often: 1, cap: 4 };
      const held = await takeOne(store, { crashed });

      expect(held.job.id).toBe(holder);
      expect(await claimable(store, { crashed })).toEqual([other]);
    });

    test.each([
      { first: "crashed", priority: 1 },
      { first: "fresh", priority: 3 },
    ])("takes the most urgent job of a key, if the $first job is", async ({ first, priority }) => {
      await using db = await open();
      const { store } = db;
      const crashed = await addCrashed(store, 1, { lane: "a", concurrencyKey: "k", priority });
      const [fresh] = await add(store, { lane: "b", concurrencyKey: "k", priority: 2 });

      const batch = await take(store, { crashed: { once: 9, often: 9, cap: 4 } });

      expect(batch.jobs.map(({ id }) => id)).toEqual([first === "crashed" ? crashed : fresh]);
      await settleAll(store, batch, { ...completed(), crashes: 1 });
    });

    test("fills its limit beside a job that waits for the key of another", async () => {
      await using db = await open();
      const { store } = db;
      const crashed = await addCrashed(store, 1, { priority: 1, concurrencyKey: "account" });
      await add(store, { priority: 2, concurrencyKey: "account" });
      const [free] = await add(store, { priority: 3 });

      const taken = await claimable(store, { limit: 2, crashed: { once: 1, often: 1, cap: 4 } });

      expect(taken).toEqual([crashed, free]);
    });

    test("finds a crashed job, wherever the last claims ended", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = newJobs(40);
      await store.enqueue(jobs);
      const worker = await joinWorker(store);
      const crashed = { once: 1, often: 1, cap: 4 };
      const first = await take(store, { worker, limit: 10, crashed });
      await take(store, { worker, limit: 10, crashed });
      const [poison, ...others] = first.jobs;
      await store.settle([
        settleItem(first, poison!, crashedTimes(1)),
        ...others.map((job) => settleItem(first, job, completed())),
      ]);

      // A crashed job is due again now, so all jobs of the same age go first.
      const rest = await claimable(store, { worker, limit: 100, crashed });

      expect(rest).toContain(poison!.id);
      expect(rest).toHaveLength(21);
    });

    test("counts a crashed job in the number of crashes that its run is told", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 2);

      const { job } = await takeOne(store, { crashed: { once: 0, often: 1, cap: 4 } });

      expect(job).toMatchObject({ crashes: 2, tries: 0, n: 3 });
    });
  });

  describe("claim beside a job that must run alone", () => {
    const crashed = { once: 1, often: 1, cap: 2 };

    test("says so, with jobs and without", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 2);
      const [fresh] = await add(store, {});
      const worker = await joinWorker(store);

      const first = await store.claim(claimRequest(worker, { crashed }));
      const second = await store.claim(claimRequest(worker, { crashed }));

      expect(first).toMatchObject({ jobs: [{ id: fresh }], awaitsAlone: true });
      expect(second).toMatchObject({ jobs: [], lease: null, awaitsAlone: true });
    });

    test("says nothing of the kind where no such job waits", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 1);
      await addCrashed(store, 1);
      const worker = await joinWorker(store);

      const first = await store.claim(claimRequest(worker, { crashed }));
      const second = await store.claim(claimRequest(worker, { crashed: { ...NONE, cap: 2 } }));

      expect(first).toMatchObject({ jobs: [{}], awaitsAlone: false });
      expect(second).toMatchObject({ jobs: [], awaitsAlone: false });
    });

    test("says nothing of jobs that it could not take in any case", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 2, { lane: "bulk", type: "sms", tenant: "acme" });
      const worker = await joinWorker(store);

      for (const filter of [{ lanes: ["fast"] }, { types: ["push"] }, { tenants: ["bolt"] }]) {
        const claim = await store.claim(claimRequest(worker, { ...filter, crashed }));
        expect(claim).toMatchObject({ jobs: [], awaitsAlone: false });
      }
      const own = { lanes: ["bulk"], types: ["sms"], tenants: ["acme"] };
      const claim = await store.claim(claimRequest(worker, { ...own, crashed }));
      expect(claim).toMatchObject({ jobs: [], awaitsAlone: true });
    });

    test("says nothing to a worker that may not claim, or that names no limits", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 2);
      const quiet = await joinWorker(store);
      await store.quiet(quiet);
      const plain = await joinWorker(store);

      for (const worker of [quiet, workerId()]) {
        const claim = await store.claim(claimRequest(worker, { crashed }));
        expect(claim).toMatchObject({ jobs: [], awaitsAlone: false });
      }
      const buffered = await store.claim(claimRequest(plain, { prefetch: true }));
      expect(buffered).toMatchObject({ jobs: [], awaitsAlone: false });
    });

    test("says so to a prefetch that names limits", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 2);
      const worker = await joinWorker(store);

      const claim = await store.claim(claimRequest(worker, { prefetch: true, crashed }));

      expect(claim).toMatchObject({ jobs: [], awaitsAlone: true });
    });
  });
}

/** Jobs with so many crashes, one for each priority. */
async function crashedMany(
  store: JobStore,
  crashes: number,
  priorities: readonly number[],
): Promise<readonly JobId[]> {
  const ids: JobId[] = [];
  for (const priority of priorities) ids.push(await addCrashed(store, crashes, { priority }));
  return ids;
}
