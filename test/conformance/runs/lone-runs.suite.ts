/** Jobs that have reached the crash cap: each runs alone, one in the whole fleet at a time. */
import { describe, expect, test } from "vitest";
import { completed, runAgain, workerId } from "../../support/factories.ts";
import {
  add,
  addCrashed,
  at,
  claimable,
  claimableAlone,
  eventsOf,
  joinWorker,
  loneRequest,
  recordOf,
  rescueSilent,
  settleItem,
  stateOf,
  take,
  takeAlone,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const LEASE_AND_MORE_MS = 30_001;

export function loneRunsSuite(open: OpenStore): void {
  describe("claimAlone", () => {
    test("takes the most urgent job that has reached the cap, and does not start it", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3, { priority: 2 });
      const first = await addCrashed(store, 4, { lane: "bulk", priority: 1, payload: '{"a":1}' });
      await addCrashed(store, 2, { priority: 0 });
      await add(store, { priority: 0 });
      const before = await eventsOf(store, first);

      const claim = await takeAlone(store);

      expect(claim).toMatchObject({
        isProbe: false,
        job: { id: first, n: 5, crashes: 4, tries: 0, lane: "bulk", payload: '{"a":1}' },
      });
      expect(await recordOf(store, first)).toMatchObject({ state: "running", startedAt: null });
      expect(await eventsOf(store, first)).toEqual(before);
    });

    test("takes the most urgent job of a lane, however many crashes it has", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3, { priority: 3 });
      const urgent = await addCrashed(store, 5, { priority: 1 });
      await addCrashed(store, 4, { priority: 2 });

      expect(await claimableAlone(store)).toBe(urgent);
    });

    test("takes the next job where the key of the most urgent one is locked", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3, { priority: 2, concurrencyKey: "account" });
      const next = await addCrashed(store, 3, { priority: 3 });
      await add(store, { priority: 1, concurrencyKey: "account", lane: "bulk" });
      await takeOne(store, { lanes: ["bulk"] });

      expect(await claimableAlone(store)).toBe(next);
    });

    test("lets the job start, run and end as any other", async () => {
      await using db = await open();
      const { store, clock } = db;
      const id = await addCrashed(store, 3);
      const claim = await takeAlone(store);
      await clock.advance(5);

      const started = await store.startPrefetched(claim.lease, [claim.job.key]);

      expect(started).toEqual({ status: "started", begun: [claim.job.key] });
      expect((await recordOf(store, id)).startedAt).toBe(clock.now());
      expect((await eventsOf(store, id)).at(-1)).toBe("job:started");
      const item = { lease: claim.lease, key: claim.job.key, n: claim.job.n };
      const settlement = { ...completed(), crashes: 3 };
      expect(await store.settle([{ ...item, settlement }])).toEqual(["settled"]);
      expect(await stateOf(store, id)).toBe("completed");
    });

    test("takes none below the cap, and none where none waits", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {});
      await addCrashed(store, 2);

      expect(await claimableAlone(store, { cap: 3 })).toBeNull();
      expect(await claimableAlone(store, { cap: 2 })).not.toBeNull();
    });

    test("takes no second job while one has a lease, for any worker", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      await addCrashed(store, 3, { priority: 1 });
      const second = await addCrashed(store, 3, { priority: 2 });
      const held = await takeAlone(store);

      expect(await claimableAlone(store, { worker: held.worker })).toBeNull();
      expect(await claimableAlone(other)).toBeNull();
      await store.startPrefetched(held.lease, [held.job.key]);
      expect(await claimableAlone(other)).toBeNull();
      await store.settle([
        settleItem({ ...held, jobs: [held.job] }, held.job, { ...completed(), crashes: 3 }),
      ]);
      expect(await claimableAlone(other)).toBe(second);
    });

    test("gives one job to one of several who ask at once", async () => {
      await using db = await open();
      const handles = [db.store, await db.another(), await db.another()];
      for (let count = 0; count < 3; count += 1) await addCrashed(db.store, 3);
      const workers = await Promise.all(handles.map((store) => joinWorker(store)));

      for (let round = 0; round < 5; round += 1) {
        const claims = await Promise.all(
          handles.map((store, index) => store.claimAlone(loneRequest(workers[index]!))),
        );
        const taken = claims.filter((claim) => claim !== null);
        expect(taken).toHaveLength(1);
        const { lease, job } = at(taken, 0);
        expect(await db.store.returnPrefetched(lease, [job.key])).toBe(1);
      }
      expect((await db.store.count({ states: ["queued"] }, 10)).count).toBe(3);
    });

    test("takes only the lanes, types and tenants asked for", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3, { lane: "bulk", type: "sms", tenant: "acme", priority: 1 });
      const wanted = await addCrashed(store, 3, { lane: "fast", type: "push", tenant: "bolt" });

      expect(await claimableAlone(store, { lanes: ["fast", "none"] })).toBe(wanted);
      expect(await claimableAlone(store, { types: ["push"] })).toBe(wanted);
      expect(await claimableAlone(store, { tenants: ["bolt"] })).toBe(wanted);
      expect(await claimableAlone(store, { types: [] })).toBeNull();
      expect(await claimableAlone(store, { lanes: [] })).toBeNull();
    });

    test.each([
      { kind: "type", name: "analysis" },
      { kind: "tenant", name: "acme" },
      { kind: "lane", name: "bulk" },
    ] as const)("takes none behind a closed $kind", async (gate) => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3, { type: "analysis", tenant: "acme", lane: "bulk", priority: 1 });
      const other = await addCrashed(store, 3, { priority: 2 });

      await store.pause(gate, { reason: "maintenance", by: null });

      expect(await claimableAlone(store)).toBe(other);
    });

    test("takes none whose key is locked, and locks the key of the job that it takes", async () => {
      await using db = await open();
      const { store } = db;
      const keyed = await addCrashed(store, 3, { lane: "a", concurrencyKey: "k", priority: 1 });
      const [fresh] = await add(store, { lane: "b", concurrencyKey: "k" });
      const holder = await takeOne(store, { lanes: ["b"] });

      expect(await claimableAlone(store)).toBeNull();
      await store.settle([settleItem(holder, holder.job, runAgain())]);
      const claim = await takeAlone(store);
      expect(claim.job.id).toBe(keyed);
      expect(await store.lockHolder("default", "k")).toBe(keyed);
      expect(await claimable(store, { lanes: ["b"] })).toEqual([]);
      await store.returnPrefetched(claim.lease, [claim.job.key]);
      expect(await store.lockHolder("default", "k")).toBeNull();
      expect(await claimable(store, { lanes: ["b"] })).toEqual([fresh]);
    });

    test("lets the job go back to its place, uncharged", async () => {
      await using db = await open();
      const { store, clock } = db;
      const id = await addCrashed(store, 3);
      const before = await recordOf(store, id);
      await clock.advance(1_000);
      const claim = await takeAlone(store);

      expect(await store.returnPrefetched(claim.lease, [claim.job.key])).toBe(1);

      expect(await recordOf(store, id)).toEqual(before);
      const again = await takeAlone(store);
      expect(again.job).toEqual(claim.job);
    });

    test("takes none for a worker that is unknown, expired, quiet or too old", async () => {
      await using db = await open();
      const { store, clock } = db;
      const id = await addCrashed(store, 3);
      const quiet = await joinWorker(store);
      await store.quiet(quiet);
      const old = await joinWorker(store, { protocol: 0 });
      const expired = await joinWorker(store, { leaseMs: 1_000 });
      await clock.advance(1_001);

      for (const worker of [workerId(), quiet, old, expired]) {
        expect(await claimableAlone(store, { worker })).toBeNull();
      }
      expect(await claimableAlone(store)).toBe(id);
    });

    test("returns the job uncharged if the worker dies before the start", async () => {
      await using db = await open();
      const { store, clock } = db;
      const id = await addCrashed(store, 3);
      const claim = await takeAlone(store);
      await clock.advance(LEASE_AND_MORE_MS);

      const rescue = await rescueSilent(store, claim.worker, {
        decide() {
          throw new Error("a job that has not started asks no decision");
        },
      });

      expect(rescue).toEqual({ returned: 1, settled: [], missing: [], done: true });
      expect(await recordOf(store, id)).toMatchObject({ state: "queued", crashes: 3 });
      expect(await claimableAlone(store)).toBe(id);
    });

    test("finds the run alone if the worker dies after the start", async () => {
      await using db = await open();
      const { store, clock } = db;
      const id = await addCrashed(store, 3);
      const next = await addCrashed(store, 3);
      const claim = await takeAlone(store);
      await store.startPrefetched(claim.lease, [claim.job.key]);
      await clock.advance(LEASE_AND_MORE_MS);
      const asked: unknown[] = [];

      await rescueSilent(store, claim.worker, {
        decide(job, isAlone) {
          asked.push([job.id, job.crashes, isAlone]);
          return { ...completed(), outcome: "crashed", tries: 1, crashes: 4 };
        },
      });

      expect(asked).toEqual([[id, 3, true]]);
      expect(await claimableAlone(store)).toBe(next);
    });

    test("cancels a job with a request instead of starting it, and makes room", async () => {
      await using db = await open();
      const { store } = db;
      const id = await addCrashed(store, 3, { priority: 1 });
      const next = await addCrashed(store, 3, { priority: 2 });
      const claim = await takeAlone(store);
      await store.cancel(id, "ada", "not needed");

      const started = await store.startPrefetched(claim.lease, [claim.job.key]);

      expect(started.begun).toEqual([]);
      expect(await stateOf(store, id)).toBe("cancelled");
      expect(await claimableAlone(store)).toBe(next);
    });
  });

  describe("claim of a key that a job at the cap awaits", () => {
    const crashed = { once: 10, often: 10, cap: 3 };
    const keyed = { priority: 5, concurrencyKey: "account" };

    test("leaves the key to the job at the cap, and takes all other jobs", async () => {
      await using db = await open();
      const { store } = db;
      const lone = await addCrashed(store, 3, keyed);
      await addCrashed(store, 1, { ...keyed, lane: "bulk" });
      const [, , free, other, elsewhere] = await add(
        store,
        { ...keyed, due: { at: 1 } },
        { ...keyed, priority: 6 },
        { priority: 5 },
        { priority: 5, concurrencyKey: "accounts" },
        { ...keyed, tenant: "acme" },
      );

      const ids = await claimable(store, { crashed });

      expect(new Set(ids)).toEqual(new Set([free, other, elsewhere]));
      expect(await claimableAlone(store)).toBe(lone);
    });

    test("takes the other jobs of the key when the job at the cap has ended", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3, keyed);
      const [next] = await add(store, keyed);
      const worker = await joinWorker(store);
      expect(await claimable(store, { worker, crashed })).toEqual([]);

      const { lease, job } = await takeAlone(store);
      await store.startPrefetched(lease, [job.key]);
      expect(await claimable(store, { worker, crashed })).toEqual([]);
      const settlement = { ...completed(), crashes: 3 };
      await store.settle([{ lease, key: job.key, n: job.n, settlement }]);

      expect(await claimable(store, { worker, crashed })).toEqual([next]);
    });

    test("leaves the key from the moment at which it is taken by another job", async () => {
      await using db = await open();
      const { store } = db;
      const lone = await addCrashed(store, 3, { ...keyed, lane: "bulk" });
      await add(store, keyed);
      const holder = await takeOne(store, { lanes: ["general"] });
      await addCrashed(store, 3, { lane: "fast" });
      const [next] = await add(store, keyed);

      await store.settle([settleItem(holder, holder.job, completed())]);

      expect(await claimable(store, { crashed })).toEqual([]);
      expect(await claimableAlone(store)).toBe(lone);
      await store.cancel(lone, null, null);
      expect(await claimable(store, { crashed })).toEqual([next]);
    });

    test("takes jobs of the key while another job runs alone", async () => {
      await using db = await open();
      const { store } = db;
      const first = await addCrashed(store, 3, { priority: 1 });
      await addCrashed(store, 3, { ...keyed, lane: "bulk" });
      const [next] = await add(store, keyed);

      const { job } = await takeAlone(store);

      expect(job.id).toBe(first);
      expect(await claimable(store, { crashed })).toEqual([next]);
    });

    test("takes more urgent jobs of the key", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3, keyed);
      const [urgent] = await add(store, { ...keyed, priority: 4 });

      expect(await claimable(store, { crashed })).toEqual([urgent]);
    });

    test("takes more urgent jobs of the key that have crashed before", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3, keyed);
      const urgent = await addCrashed(store, 2, { ...keyed, priority: 4, lane: "bulk" });

      expect(await claimable(store, { crashed })).toEqual([urgent]);
    });

    test("leaves only the key of the most urgent job at the cap", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 4, { priority: 2, concurrencyKey: "later" });
      await addCrashed(store, 3, { priority: 1, concurrencyKey: "first", lane: "bulk" });
      const [, later] = await add(
        store,
        { priority: 3, concurrencyKey: "first" },
        { priority: 3, concurrencyKey: "later" },
      );

      expect(await claimable(store, { crashed })).toEqual([later]);
    });

    test("leaves nothing to a job that has not reached the cap", async () => {
      await using db = await open();
      const { store } = db;
      const below = await addCrashed(store, 2, keyed);
      await add(store, keyed);

      expect(await claimable(store, { crashed })).toEqual([below]);
    });

    test("leaves nothing to a job of a lane or type that it does not take", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3, { ...keyed, lane: "bulk", type: "sms" });
      const [next] = await add(store, { ...keyed, priority: 6 });

      const lanes = await take(store, { lanes: ["general"], crashed });
      expect(lanes.jobs.map(({ id }) => id)).toEqual([next]);
      await store.settle([settleItem(lanes, at(lanes.jobs, 0), runAgain())]);
      const types = await take(store, { types: ["email"], crashed });
      expect(types.jobs.map(({ id }) => id)).toEqual([next]);
      await store.settle([settleItem(types, at(types.jobs, 0), runAgain())]);
      expect(await claimable(store, { crashed })).toEqual([]);
    });

    test("leaves nothing to a job of another tenant", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3, { priority: 1, concurrencyKey: "a", tenant: "acme" });
      const lone = await addCrashed(store, 3, { ...keyed, lane: "bulk" });
      await add(store, keyed);

      expect(await claimable(store, { tenants: ["default"], crashed })).toEqual([]);
      expect(await claimableAlone(store, { tenants: ["default"] })).toBe(lone);
    });

    test.each([
      ["lane", "bulk"],
      ["type", "sms"],
    ] as const)("leaves nothing to a job whose %s is paused", async (kind, name) => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3, { ...keyed, lane: "bulk", type: "sms" });
      const [next] = await add(store, keyed);
      await store.pause({ kind, name }, { reason: "stop", by: null });

      expect(await claimable(store, { crashed })).toEqual([next]);
    });
  });
}
