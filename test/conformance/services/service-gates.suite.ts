import { describe, expect, test } from "vitest";
import { fault, retryIn } from "../../support/factories.ts";
import {
  add,
  addCrashed,
  claimable,
  claimRequest,
  joinWorker,
  recordOf,
  settleItem,
  stateOf,
  take,
} from "../../support/steps.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { OpenStore } from "../../support/stores.ts";
import { breaker, fail, OPEN_MS, outage, uses } from "./scene.ts";

const BANK = { kind: "service", name: "bank" } as const;
const WHY = { reason: "audit", by: "ada" };

export function serviceGatesSuite(open: OpenStore): void {
  describe("gates of services", () => {
    test("hold the types back that use the service, and no others", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank", "smtp"]);
      await uses(store, ["phone"], "sms");
      const [, sms] = await add(store, { type: "email" }, { type: "sms" });
      await outage(store);

      expect(await claimable(store)).toEqual([sms]);
    });

    test("hold a type back from the moment at which it declares the service", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      await outage(store);
      await uses(store, ["bank"]);
      expect(await claimable(store)).toEqual([]);
      await uses(store, []);
      expect(await claimable(store)).toEqual([id]);
    });

    test("hold crashed jobs back as well", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"]);
      await addCrashed(store, 1, {});
      await outage(store);
      const worker = await joinWorker(store);
      const crashed = { once: 5, often: 5, cap: 3 };
      expect((await store.claim(claimRequest(worker, { crashed }))).jobs).toEqual([]);
    });

    test("move their jobs out of the way and back, and name the service", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"]);
      const [id] = await add(store, {});
      await outage(store);
      expect(await store.promote(10)).toMatchObject({ waiting: { blocked: true } });
      expect(await store.stats(10)).toMatchObject({ queued: 0, held: 1 });

      expect(await store.hold(10)).toBe(1);

      expect(await recordOf(store, id)).toMatchObject({ heldBy: BANK });
      expect(await store.stats(10)).toMatchObject({ queued: 0, held: 1 });
      expect(await store.countBehind(BANK, 10)).toMatchObject({ jobs: 1, shared: 0 });
      expect(await store.release(10)).toBe(0);
      await store.resetBreaker("bank", "ada");
      expect(await store.promote(10)).toMatchObject({ waiting: { released: true } });
      expect(await store.release(10)).toBe(1);
      expect(await store.release(10)).toBe(0);
      expect(await claimable(store)).toEqual([id]);
      expect(await store.promote(10)).toMatchObject({ waiting: { released: false } });
    });

    test("are closed and opened by operators, beside the breaker", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"]);
      const [id] = await add(store, {});
      await store.pause(BANK, WHY);
      expect(await store.gates()).toMatchObject([{ ...BANK, reason: "audit", by: "ada" }]);
      expect(await claimable(store)).toEqual([]);
      await store.hold(10);
      await outage(store);
      expect(await store.resume(BANK)).toBe(true);
      expect(await store.release(10)).toBe(0);
      expect(await claimable(store)).toEqual([]);
      await store.pause(BANK, WHY);
      await store.resetBreaker("bank", null);
      expect(await store.release(10)).toBe(0);
      expect(await claimable(store)).toEqual([]);

      await store.resume(BANK);
      await store.release(10);

      expect(await claimable(store)).toEqual([id]);
    });

    test("open by time where a service has asked for a pause", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      const [id] = await add(store, {});
      await fail(store, { park: { forMs: 5_000, tenant: null } });
      expect(await claimable(store)).toEqual([]);
      await store.hold(10);
      expect(await recordOf(store, id)).toMatchObject({ heldBy: BANK });
      await clock.advance(4_999);
      expect(await store.release(10)).toBe(0);
      await clock.advance(1);

      expect(await store.release(10)).toBe(1);
      expect(await claimable(store)).toEqual([id]);
    });

    test("hold back one tenant where the service has asked this tenant for a pause", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      const [own, other] = await add(store, { tenant: "acme" }, { tenant: "other" });
      const [sms] = await add(store, { tenant: "acme", type: "sms" });
      await addCrashed(store, 1, { tenant: "acme" });
      await fail(store, { park: { forMs: 5_000, tenant: "acme" }, tenant: "acme" });
      const worker = await joinWorker(store);
      const crashed = { once: 5, often: 5, cap: 3 };

      const { jobs } = await store.claim(claimRequest(worker, { crashed }));

      expect(jobs.map(({ id }) => id)).toEqual([other, sms]);
      expect(await store.stats(10)).toMatchObject({ held: 2 });
      const { groups } = await store.groupedStats({ rows: 10, groups: 10 });
      expect(groups).toMatchObject([{ tenant: "acme", type: "email", queued: 0, held: 2 }, {}, {}]);
      await add(store, { tenant: "other" });
      expect(await store.hold(10)).toBe(2);
      expect(await recordOf(store, own)).toMatchObject({ heldBy: BANK });
      expect(await store.release(10)).toBe(0);
      await clock.advance(5_000);
      expect(await store.release(10)).toBe(2);
      expect(await claimable(store)).toHaveLength(3);
    });
  });

  describe("a type that does not use a service any more", () => {
    const closings = {
      breaker: (store: JobStore) => outage(store),
      "forced breaker": (store: JobStore) => store.openBreaker("bank", WHY),
      pause: (store: JobStore) => store.pause(BANK, WHY),
      park: (store: JobStore) => fail(store, { park: { forMs: OPEN_MS, tenant: null } }),
      "park of a tenant": (store: JobStore) =>
        fail(store, { park: { forMs: OPEN_MS, tenant: "acme" }, tenant: "acme" }),
    };

    test.each(Object.entries(closings))("gets its jobs back from a %s", async (_, close) => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"]);
      await uses(store, ["bank"], "sms");
      const ids = await add(store, { tenant: "acme" }, { tenant: "acme" }, { tenant: "acme" });
      const [sms] = await add(store, { type: "sms", tenant: "acme" });
      await close(store);
      expect(await store.hold(10)).toBe(4);

      await uses(store, ["bank2"]);

      expect(await store.promote(10)).toMatchObject({ waiting: { blocked: true } });
      expect(await store.release(2)).toBe(2);
      expect(await store.release(10)).toBe(1);
      expect(await store.release(10)).toBe(0);
      expect(await store.hold(10)).toBe(0);
      expect(await claimable(store)).toEqual(ids);
      expect(await recordOf(store, sms)).toMatchObject({ heldBy: BANK });
    });

    test("leaves its jobs behind the other gates that hold them back", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank", "smtp"]);
      const [id] = await add(store, {});
      const [paused] = await add(store, { lane: "slow" });
      await store.pause({ kind: "lane", name: "slow" }, WHY);
      await outage(store, "bank");
      await outage(store, "smtp");
      await store.hold(10);

      await uses(store, ["smtp"]);
      await store.release(10);
      await store.hold(10);
      await uses(store, ["smtp"]);

      expect(await store.release(10)).toBe(0);
      expect(await claimable(store)).toEqual([]);
      expect(await recordOf(store, id)).toMatchObject({ heldBy: { name: "smtp" } });
      expect(await recordOf(store, paused)).toMatchObject({ state: "queued" });
    });

    test("has jobs that claims have passed claimed", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"]);
      const [id] = await add(store, {});
      await outage(store);
      const worker = await joinWorker(store);
      expect((await store.claim(claimRequest(worker))).jobs).toEqual([]);

      await uses(store, []);

      expect((await store.claim(claimRequest(worker))).jobs).toMatchObject([{ id }]);
    });
  });

  describe("openBreaker", () => {
    test("holds jobs back with a reason until a reset, and tells who did both", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      const [id] = await add(store, {});
      await store.openBreaker("bank", { reason: "they asked us to stop", by: "ada" });
      await clock.advance(100 * OPEN_MS);

      expect(await claimable(store)).toEqual([]);
      expect(await store.promote(10)).toMatchObject({ probeInMs: null });
      expect(await breaker(store)).toMatchObject({
        state: "open",
        reason: "they asked us to stop",
        by: "ada",
        types: ["email"],
      });
      expect(await store.resetBreaker("bank", "bob")).toBe(true);
      expect(await store.resetBreaker("bank", "bob")).toBe(false);
      expect(await claimable(store)).toEqual([id]);
      expect(await store.breakerChanges("bank", 10)).toMatchObject([
        { state: "closed", by: "bob" },
        { state: "open", by: "ada", reason: "they asked us to stop" },
      ]);
    });
  });

  describe("openBreaker of an open breaker", () => {
    test("is in the history, without an actor and with another reason (004-10)", async () => {
      await using db = await open();
      const { store } = db;
      await outage(store);

      await store.openBreaker("bank", { reason: "maintenance", by: null });
      await store.openBreaker("bank", { reason: "until friday", by: "ada" });
      await store.openBreaker("bank", { reason: "until monday", by: "ada" });
      await store.openBreaker("bank", { reason: "until monday", by: "ada" });

      expect(await store.breakerChanges("bank", 10)).toMatchObject([
        { state: "open", by: "ada", reason: "until monday" },
        { state: "open", by: "ada", reason: "until friday" },
        { state: "open", by: null, reason: "maintenance" },
        { state: "open", by: null, reason: "hung up" },
      ]);
    });
  });

  describe("resetBreaker", () => {
    test("closes the breaker and ends the pauses that the service has asked for", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"]);
      const ids = await add(store, {}, { tenant: "acme" });
      await fail(store, { park: { forMs: 9_000, tenant: "acme" }, tenant: "acme" });
      await fail(store, { park: { forMs: 9_000, tenant: null } });
      await store.hold(10);

      expect(await store.resetBreaker("bank", "ada")).toBe(true);

      await store.release(10);
      expect(await claimable(store)).toEqual(ids);
      expect(await breaker(store)).toMatchObject({ failures: 0, parks: [] });
      expect(await store.resetBreaker("phone", "ada")).toBe(false);
    });
  });

  describe("resetBreaker, for jobs that are due later", () => {
    test("makes those due whose last run ended with an error of the service", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [own, others, plain] = await add(store, {}, {}, {});
      const batch = await take(store);
      const ends = [fault({ service: "bank" }), fault({ service: "smtp" }), null];
      await store.settle(
        batch.jobs.map((job, index) =>
          settleItem(batch, job, { ...retryIn(9_000), fault: ends[index] ?? null }),
        ),
      );
      const [later] = await add(store, { due: { delayMs: 9_000 } });
      await outage(store);
      await clock.advance(1_000);

      expect(await store.resetBreaker("bank", "ada")).toBe(true);

      expect(await claimable(store)).toEqual([own]);
      for (const id of [others, plain, later]) expect(await stateOf(store, id)).toBe("scheduled");
      expect(await store.resetBreaker("smtp", "ada")).toBe(false);
    });
  });

  describe("breakers", () => {
    test("lists the services that types use and those with a breaker, by name", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["smtp", "bank"]);
      await uses(store, ["bank"], "sms");
      await outage(store, "phone");
      expect(await store.breakers()).toMatchObject([
        { service: "bank", state: "closed", types: ["email", "sms"], updatedAtMs: null },
        { service: "phone", state: "open", types: [] },
        { service: "smtp", state: "closed", types: ["email"] },
      ]);
    });
  });

  describe("breakerChanges", () => {
    test("answers the newest changes of one service", async () => {
      await using db = await open();
      const { store } = db;
      await store.openBreaker("bank", WHY);
      await store.openBreaker("smtp", WHY);
      await store.resetBreaker("bank", "bob");
      expect(await store.breakerChanges("bank", 1)).toMatchObject([{ state: "closed" }]);
      expect(await store.breakerChanges("bank", 10)).toHaveLength(2);
      expect(await store.breakerChanges("phone", 10)).toEqual([]);
    });
  });
}
