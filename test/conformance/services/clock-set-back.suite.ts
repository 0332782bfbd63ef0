/** Breakers that opened while the clock was ahead, on SQLite that of the host. */
import { describe, expect, test } from "vitest";
import { add, claimable, takeOne } from "../../support/steps.ts";
import type { OpenStore, TestStore } from "../../support/stores.ts";
import { breaker, fail, failure, OPEN_MS, outage, probe, takeProbe, uses } from "./scene.ts";

const HOUR = 3_600_000;

/** The breaker of the bank opens while the clock is an hour ahead. */
async function openedAhead({ store, clock }: TestStore): Promise<void> {
  await uses(store, ["bank"]);
  await clock.advance(HOUR);
  await outage(store);
  clock.setBack(HOUR);
}

export function breakerClockSetBackSuite(open: OpenStore): void {
  describe("claimProbe of a breaker that opened while the clock was ahead", () => {
    test("takes the probe when the clock has gone back", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      await openedAhead(db);
      expect(await breaker(store)).toMatchObject({ state: "open", probeAtMs: clock.now() });
      expect(await store.promote(10)).toMatchObject({ probeInMs: 0 });

      expect(await takeProbe(store)).toMatchObject({ job: { id }, services: ["bank"] });
    });

    test("waits as always after that probe has failed", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {}, {});
      await openedAhead(db);
      const { job } = await takeProbe(store);
      await store.reportCalls([failure({ run: { key: job.key, n: job.n } })]);
      const probeAtMs = clock.now() + OPEN_MS;
      expect(await breaker(store)).toMatchObject({ state: "open", probeAtMs });
      await clock.advance(OPEN_MS - 1);
      expect(await probe(store)).toBeNull();
      await clock.advance(1);

      expect(await probe(store)).not.toBeNull();
    });

    test("does so for the first run that asks, too, and tells others no wrong time", async () => {
      await using db = await open();
      const { store } = db;
      await openedAhead(db);
      await add(store, { type: "sms" });
      const { job } = await takeOne(store);
      const call = { service: "bank", tenant: "default", run: { key: job.key, n: job.n } };
      const late = await store.reportCalls([failure()]);
      expect(late).toEqual([{ isCounted: false, waitMs: 0, changedTo: null }]);

      expect(await store.callServices([call])).toEqual([{ status: "probe" }]);
    });

    test("takes no probe if an operator keeps the breaker open", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {});
      await openedAhead(db);
      await store.openBreaker("bank", { reason: "they asked us to stop", by: "ada" });
      expect(await breaker(store)).toMatchObject({ state: "open", probeAtMs: null });
      expect(await store.promote(10)).toMatchObject({ probeInMs: null });

      expect(await probe(store)).toBeNull();
    });
  });

  describe("promote of a service that asked for a pause while the clock was ahead", () => {
    test.each([
      ["all tenants", null],
      ["one tenant", "acme"],
    ])("ends the pause of %s when the clock has gone back", async (_, tenant) => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      const [id] = await add(store, { tenant: "acme" });
      await clock.advance(HOUR);
      await fail(store, { park: { forMs: OPEN_MS, tenant }, tenant: "acme" });
      await store.hold(10);
      clock.setBack(HOUR);
      expect(await store.promote(10)).toMatchObject({ waiting: { released: true } });

      await store.release(10);

      expect(await breaker(store)).toMatchObject({ parks: [] });
      expect(await claimable(store)).toEqual([id]);
    });
  });

  describe("reportCalls of a service that asked for a pause while the clock was ahead", () => {
    test("closes it for as long as it asks for after that", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      const [id] = await add(store, {});
      await clock.advance(HOUR);
      await fail(store, { park: { forMs: OPEN_MS, tenant: null } });
      clock.setBack(HOUR);

      await fail(store, { park: { forMs: OPEN_MS, tenant: null }, run: { key: 4_712, n: 1 } });

      const until = clock.now() + OPEN_MS;
      expect(await breaker(store)).toMatchObject({ parks: [{ until }] });
      await store.release(10);
      expect(await claimable(store)).toEqual([]);
      await clock.advance(OPEN_MS);
      await store.release(10);
      expect(await claimable(store)).toEqual([id]);
    });
  });
}
