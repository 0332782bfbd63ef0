import { describe, expect, test } from "vitest";
import { completed, runAgain } from "../../support/factories.ts";
import { pictureOf } from "../../support/notes.ts";
import { add, claimable, settleAll, stateOf, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const TYPE = { kind: "type", name: "email" } as const;
const TENANT = { kind: "tenant", name: "default" } as const;
const FAST = { kind: "lane", name: "fast" } as const;
const WHY = { reason: "maintenance", by: "ada" } as const;

export function gateSuite(open: OpenStore): void {
  describe("pause", () => {
    test("closes a gate, with who and why (C-04)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const closedAt = clock.now();

      await store.pause(TYPE, WHY);
      await clock.advance(10);

      expect(await store.gates()).toEqual([{ ...TYPE, ...WHY, closedAt, until: null }]);
    });

    test("changes nothing about a job behind it but what holds it (004-08)", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const before = await pictureOf(store, id);

      await store.pause(TYPE, WHY);
      await store.hold(10);

      expect(await claimable(store)).toEqual([]);
      const { job, ...rest } = await pictureOf(store, id);
      expect(job).toMatchObject({ state: "queued", heldBy: TYPE });
      expect({ job: { ...job, heldBy: null }, ...rest }).toEqual(before);
    });

    test("holds from the next claim on, and leaves what runs alone", async () => {
      await using db = await open();
      const { store } = db;
      const [running, waiting] = await add(store, {}, {});
      const batch = await take(store, { limit: 1 });

      await store.pause(TYPE, WHY);

      expect(await claimable(store)).toEqual([]);
      expect(await stateOf(store, waiting)).toBe("queued");
      await settleAll(store, batch, completed());
      expect(await stateOf(store, running)).toBe("completed");
    });

    test("holds a job that comes back from its run, and one that arrives", async () => {
      await using db = await open();
      const { store } = db;
      const [back] = await add(store, {});
      const batch = await take(store);
      await store.pause(TYPE, WHY);

      await settleAll(store, batch, runAgain());
      const [arriving] = await add(store, {});

      expect(await claimable(store)).toEqual([]);
      await store.resume(TYPE);
      expect(await claimable(store)).toEqual([back, arriving]);
    });

    test("opens by itself after its time", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const closedAt = clock.now();
      const until = closedAt + 1_000;

      await store.pause(TYPE, { ...WHY, forMs: 1_000 });

      expect(await store.gates()).toEqual([{ ...TYPE, ...WHY, closedAt, until }]);
      await clock.advance(999);
      expect(await claimable(store)).toEqual([]);
      await clock.advance(1);
      expect(await store.gates()).toEqual([]);
      expect(await claimable(store)).toEqual([id]);
    });

    test("replaces the reason and the time of a gate that is closed already", async () => {
      await using db = await open();
      const { store, clock } = db;
      const closedAt = clock.now();
      await store.pause(TYPE, { ...WHY, forMs: 1_000 });
      await clock.advance(10);

      await store.pause(TYPE, { reason: "provider is down", by: null });

      expect(await store.gates()).toEqual([
        { ...TYPE, reason: "provider is down", by: null, closedAt, until: null },
      ]);
    });

    test("is closed anew after it was opened, by an operator or by its time", async () => {
      await using db = await open();
      const { store, clock } = db;
      for (const opened of [() => store.resume(TYPE), () => clock.advance(1_000)]) {
        await store.pause(TYPE, { ...WHY, forMs: 1_000 });
        await clock.advance(10);
        await opened();
        await store.pause(TYPE, { ...WHY, forMs: 1_000 });

        expect(await store.gates()).toMatchObject([{ closedAt: clock.now() }]);
        await store.resume(TYPE);
      }
    });

    test("tells gates of one name but different kinds apart", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { type: "acme", lane: "fast", tenant: "bolt" });

      await store.pause({ kind: "tenant", name: "acme" }, WHY);
      await store.pause({ kind: "lane", name: "bolt" }, WHY);
      await store.pause({ kind: "type", name: "fast" }, WHY);

      expect(await store.gates()).toHaveLength(3);
      expect(await claimable(store)).toEqual([id]);
    });

    test("closes a gate of a name that no job has borne yet", async () => {
      await using db = await open();
      const { store } = db;

      await store.pause({ kind: "lane", name: "bulk" }, WHY);
      await add(store, { lane: "bulk" });

      expect(await claimable(store)).toEqual([]);
    });
  });

  describe("gates", () => {
    test("shows every closed gate and no other", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.pause(TYPE, WHY);
      await store.pause(TENANT, { ...WHY, forMs: 1_000 });
      await store.pause({ kind: "lane", name: "fast" }, { ...WHY, forMs: 10 });
      await store.pause({ kind: "lane", name: "bulk" }, WHY);
      await store.resume({ kind: "lane", name: "bulk" });
      await clock.advance(11);

      const gates = await store.gates();

      expect(await (await db.another()).gates()).toEqual(gates);
      expect(gates).toHaveLength(2);
      const closedAt = clock.now() - 11;
      expect(gates).toContainEqual({ ...TYPE, ...WHY, closedAt, until: null });
      expect(gates).toContainEqual({ ...TENANT, ...WHY, closedAt, until: closedAt + 1_000 });
    });
  });

  describe("resume", () => {
    test("opens the gate, in every process", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      const [id] = await add(store, {});
      await store.pause(TYPE, WHY);
      expect(await claimable(other)).toEqual([]);

      expect(await store.resume(TYPE)).toBe(true);

      expect(await other.gates()).toEqual([]);
      expect(await claimable(other)).toEqual([id]);
    });

    test("opens no other gate", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      await store.pause(TYPE, WHY);
      await store.pause(TENANT, WHY);

      await store.resume(TYPE);

      const closedAt = clock.now();
      expect(await store.gates()).toEqual([{ ...TENANT, ...WHY, closedAt, until: null }]);
      expect(await claimable(store)).toEqual([]);
    });

    test("is harmless for a gate that is open", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});

      expect(await store.resume(TYPE)).toBe(false);

      expect(await store.gates()).toEqual([]);
      expect(await claimable(store)).toEqual([id]);
    });

    test("says that a gate was open already: by an operator, by its time, or always", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.pause(TYPE, WHY);
      await store.pause(TENANT, { ...WHY, forMs: 10 });

      expect(await store.resume(TYPE)).toBe(true);
      expect(await store.resume(TYPE)).toBe(false);
      await clock.advance(10);
      expect(await store.resume(TENANT)).toBe(false);
      expect(await store.resume({ kind: "lane", name: "unheard" })).toBe(false);
    });
  });

  describe("countBehind", () => {
    test("counts the queued jobs of a lane, a type or a tenant, held or not", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {}, { type: "sms", lane: "fast" }, { tenant: "acme" });
      await store.pause(TYPE, WHY);
      await store.hold(2);
      await add(store, { due: { delayMs: 1_000 } });

      const alone = { isExact: true, shared: 0, isSharedExact: true };
      expect(await store.countBehind(TYPE, 100)).toEqual({ jobs: 3, ...alone });
      expect(await store.countBehind(FAST, 100)).toEqual({ jobs: 1, ...alone });
      await store.resume(TYPE);
      expect(await store.countBehind(TYPE, 100)).toEqual({ jobs: 3, ...alone });
      const unheard = { kind: "lane", name: "unheard" } as const;
      expect(await store.countBehind(unheard, 100)).toEqual({ jobs: 0, ...alone });
    });

    test("counts jobs that another closed gate holds back apart, held or not", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, { tenant: "acme" }, { lane: "fast" }, { lane: "fast", tenant: "acme" });
      await store.pause(TYPE, WHY);
      await store.pause(FAST, WHY);
      await store.hold(3);

      const exact = { isExact: true, isSharedExact: true };
      expect(await store.countBehind(TYPE, 100)).toEqual({ jobs: 2, shared: 2, ...exact });
      expect(await store.countBehind(FAST, 100)).toEqual({ jobs: 0, shared: 2, ...exact });
      await store.resume(TYPE);
      expect(await store.countBehind(FAST, 100)).toMatchObject({ shared: 0 });
    });

    test("counts jobs of one gate that another gate holds, and no others", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, { lane: "fast" }, { type: "sms", lane: "fast" }, { lane: "fast" });
      await store.pause(TYPE, WHY);
      await store.hold(10);
      await store.pause(FAST, WHY);

      const counted = await store.countBehind(FAST, 2);

      expect(counted).toEqual({ jobs: 1, shared: 1, isExact: true, isSharedExact: false });
      expect(await store.countBehind(FAST, 3)).toMatchObject({ shared: 2, isSharedExact: true });
    });

    test("counts the jobs of one tenant only, if asked to", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {}, { tenant: "acme" }, { tenant: "acme", lane: "fast" });
      await store.pause(TYPE, WHY);
      await store.hold(3);

      expect(await store.countBehind(TYPE, 100, "acme")).toMatchObject({ jobs: 2, shared: 0 });
      expect(await store.countBehind(TYPE, 100, "default")).toMatchObject({ jobs: 2, shared: 0 });
      expect(await store.countBehind(TYPE, 100, "unheard")).toMatchObject({ jobs: 0, shared: 0 });
    });

    test("reads at most so many rows of each place, and says so", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {}, {}, {});
      await store.pause(TYPE, WHY);
      await store.hold(1);

      const shared = { shared: 0, isSharedExact: true };
      expect(await store.countBehind(TYPE, 3)).toEqual({ jobs: 4, isExact: true, ...shared });
      expect(await store.countBehind(TYPE, 2)).toEqual({
        jobs: 3,
        isExact: false,
        shared: 0,
        isSharedExact: false,
      });
    });
  });
}
