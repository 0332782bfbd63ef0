import { describe, expect, test } from "vitest";
import { crashedOnce, newJobs } from "../../support/factories.ts";
import {
  add,
  addCrashed,
  claimable,
  recordOf,
  runOne,
  stateOf,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const TYPE = { kind: "type", name: "email" } as const;
const TENANT = { kind: "tenant", name: "acme" } as const;
const LANE = { kind: "lane", name: "bulk" } as const;
const WHY = { reason: "maintenance", by: null } as const;

export function holdSuite(open: OpenStore): void {
  describe("hold", () => {
    test.each([
      [TYPE, { type: "email" }],
      [TENANT, { tenant: "acme" }],
      [LANE, { lane: "bulk" }],
    ])("moves what is behind a closed $kind out of the way, and says why", async (gate, job) => {
      await using db = await open();
      const { store, clock } = db;
      const runAt = clock.now();
      const [behind, free, behindToo] = await add(
        store,
        { type: "sms", ...job },
        { type: "sms" },
        { type: "sms", ...job },
      );
      await store.pause(gate, WHY);

      const moved = await store.hold(100);

      expect(moved).toBe(2);
      for (const id of [behind, behindToo]) {
        expect(await recordOf(store, id)).toMatchObject({ state: "queued", heldBy: gate, runAt });
      }
      expect((await recordOf(store, free)).heldBy).toBeNull();
      expect(await claimable(store)).toEqual([free]);
    });

    test("moves nothing when every gate is open", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      await store.pause(TYPE, { ...WHY, forMs: 10 });
      await clock.advance(10);

      expect(await store.hold(100)).toBe(0);
      expect(await claimable(store)).toEqual([id]);
    });

    test("moves nothing behind a gate that has opened, though others are closed", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      await store.pause(TYPE, { ...WHY, forMs: 10 });
      await store.pause(TENANT, WHY);
      await clock.advance(10);

      expect(await store.hold(100)).toBe(0);
      expect(await claimable(store)).toEqual([id]);
    });

    test("moves no more than asked, and all in the end", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(5));
      await store.pause(TYPE, WHY);

      const moves = [await store.hold(2), await store.hold(2), await store.hold(2)];

      expect(moves).toEqual([2, 2, 1]);
      expect(await store.hold(2)).toBe(0);
      expect((await store.count({ states: ["queued"] }, 10)).count).toBe(5);
    });

    test("moves no more than asked from all lanes together", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(["a", "b", "c"].flatMap((lane) => newJobs(2, { lane })));
      await store.pause(TYPE, WHY);

      const moves = [await store.hold(3), await store.hold(5), await store.hold(5)];

      expect(moves).toEqual([3, 3, 0]);
    });

    test("leaves jobs alone that are not due", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, { due: { delayMs: 10 } });
      await store.pause(TYPE, WHY);

      expect(await store.hold(100)).toBe(0);
      expect(await stateOf(store, id)).toBe("scheduled");
      await clock.advance(10);
      await store.promote(100);
      expect(await store.hold(100)).toBe(1);
      expect(await recordOf(store, id)).toMatchObject({ state: "queued", heldBy: TYPE });
    });

    test("moves jobs that have crashed before, from every lane", async () => {
      await using db = await open();
      const { store } = db;
      const crashed = [
        await addCrashed(store, 1, { lane: "a" }),
        await addCrashed(store, 1, { lane: "a" }),
        await addCrashed(store, 4, { lane: "a" }),
        await addCrashed(store, 2, { lane: "b" }),
      ];
      const [fresh] = await add(store, { lane: "b" });
      const other = await addCrashed(store, 1, { type: "sms" });
      await store.pause(TYPE, WHY);

      const moved = await store.hold(100);

      expect(moved).toBe(5);
      for (const id of [...crashed, fresh]) {
        expect((await recordOf(store, id)).heldBy).toEqual(TYPE);
      }
      expect((await recordOf(store, other)).heldBy).toBeNull();
    });

    test("moves a job that has crashed before and whose key is taken", async () => {
      await using db = await open();
      const { store } = db;
      const crashed = await addCrashed(store, 1, { concurrencyKey: "account" });
      await add(store, { concurrencyKey: "account", priority: 0 });
      await takeOne(store);

      expect(await store.hold(100)).toBe(1);
      expect((await recordOf(store, crashed)).heldBy).toEqual({ kind: "key", name: "account" });
    });
  });

  describe("release", () => {
    test("moves nothing while the gate is closed", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      await store.pause(TYPE, WHY);
      await store.hold(100);

      expect(await store.release(100)).toBe(0);
      expect(await recordOf(store, id)).toMatchObject({ heldBy: TYPE });
      expect(await claimable(store)).toEqual([]);
    });

    test("brings jobs back to where they were in the order", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [second, first] = await add(store, {}, { priority: 1 });
      await clock.advance(10);
      const [other] = await add(store, { type: "sms" });
      await clock.advance(10);
      const [last] = await add(store, {});
      await store.pause(TYPE, WHY);
      await store.hold(100);
      await store.resume(TYPE);

      const moved = await store.release(100);

      expect(moved).toBe(3);
      expect((await recordOf(store, first)).heldBy).toBeNull();
      expect(await claimable(store)).toEqual([first, second, other, last]);
    });

    test("needs no resume when the gate has opened by itself", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      await store.pause(TYPE, { ...WHY, forMs: 1_000 });
      await store.hold(100);
      await clock.advance(1_000);

      expect(await store.release(100)).toBe(1);
      expect(await claimable(store)).toEqual([id]);
    });

    test("moves no more than asked, and all in the end", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(5));
      await store.pause(TYPE, WHY);
      await store.hold(100);
      await store.resume(TYPE);

      const moves = [];
      for (let call = 0; call < 4; call += 1) moves.push(await store.release(2));

      expect(moves).toEqual([2, 2, 1, 0]);
      expect(await claimable(store)).toHaveLength(5);
    });

    test("moves no more than asked from behind all gates together", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue([...newJobs(2), ...newJobs(2, { type: "sms", tenant: "acme" })]);
      for (const gate of [TYPE, TENANT]) await store.pause(gate, WHY);
      await store.hold(100);
      for (const gate of [TYPE, TENANT]) await store.resume(gate);

      const moves = [await store.release(3), await store.release(3), await store.release(3)];

      expect(moves).toEqual([3, 1, 0]);
    });

    test("leaves jobs of a gate that is still closed where they are", async () => {
      await using db = await open();
      const { store } = db;
      const [stays, comes] = await add(store, { tenant: "acme", type: "sms" }, {});
      await store.pause(TENANT, WHY);
      await store.pause(TYPE, WHY);
      await store.hold(100);

      await store.resume(TYPE);

      expect(await store.release(100)).toBe(1);
      expect(await claimable(store)).toEqual([comes]);
      expect((await recordOf(store, stays)).heldBy).toEqual(TENANT);
    });

    test.each([
      [TYPE, TENANT],
      [TENANT, TYPE],
    ])("lets a job behind two gates run only when both are open", async (one, two) => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { tenant: "acme" });
      await store.pause(TYPE, WHY);
      await store.pause(TENANT, WHY);
      await store.hold(100);

      await store.resume(one);
      await store.release(100);
      const afterOne = await claimable(store);
      await store.hold(100);
      await store.resume(two);
      await store.release(100);
      const afterTwo = await claimable(store);

      expect(afterOne).toEqual([]);
      expect(afterTwo).toEqual([id]);
    });

    test("keeps the count of runs of a held job", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { lane: "fast", tenant: "acme", priority: 9 });
      await runOne(store, crashedOnce());
      await store.pause(TYPE, WHY);
      await store.hold(100);
      await store.resume(TYPE);
      await store.release(100);

      const { job } = await takeOne(store, { lanes: ["fast"], tenants: ["acme"] });

      expect(job).toMatchObject({ n: 2, tries: 1, crashes: 1, priority: 9 });
    });
  });
}
