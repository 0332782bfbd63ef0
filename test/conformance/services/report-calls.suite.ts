import { describe, expect, test } from "vitest";
import { retention } from "../../support/factories.ts";
import { add } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import {
  breaker,
  fail,
  failure,
  imply,
  LIMITS,
  OPEN_MS,
  outage,
  outageWithProbe,
  probe,
  RUN,
  succeed,
  takeProbe,
  uses,
} from "./scene.ts";

const TENANT_PARK = { forMs: 30_000, tenant: "acme" };

export function reportCallsSuite(open: OpenStore): void {
  describe("reportCalls", () => {
    test("opens the breaker at the limit, and keeps its history (004-10, 004-23)", async () => {
      await using db = await open();
      const { store, clock } = db;
      expect(await fail(store)).toEqual({ isCounted: true, waitMs: null, changedTo: null });
      expect(await fail(store)).toMatchObject({ isCounted: true });
      expect(await breaker(store)).toMatchObject({ state: "closed", failures: 2 });

      expect(await fail(store)).toEqual({ isCounted: true, waitMs: null, changedTo: "open" });

      expect(await breaker(store)).toEqual({
        service: "bank",
        types: [],
        state: "open",
        failures: 3,
        successes: 0,
        lastFailureAtMs: clock.now(),
        openedAtMs: clock.now(),
        halfOpenedAtMs: null,
        updatedAtMs: clock.now(),
        probeAtMs: clock.now() + OPEN_MS,
        probe: null,
        reason: "hung up",
        by: null,
        parks: [],
      });
      expect(await store.breakerChanges("bank", 10)).toEqual([
        { at: clock.now(), state: "open", failures: 3, reason: "hung up", by: null },
      ]);
    });

    test("does not count failures of runs that began before the breaker opened", async () => {
      await using db = await open();
      const { store, clock } = db;
      await outage(store);
      await clock.advance(10_000);

      expect(await fail(store)).toEqual({
        isCounted: false,
        waitMs: OPEN_MS - 10_000,
        changedTo: null,
      });
      expect(await breaker(store)).toMatchObject({ failures: 3 });
      expect(await succeed(store)).toMatchObject({ changedTo: null });
      expect(await breaker(store)).toMatchObject({ state: "open" });
    });

    test("applies the reports of one call in their order", async () => {
      await using db = await open();
      const { store } = db;
      const answers = await store.reportCalls([
        failure(),
        failure({ service: "smtp" }),
        failure(),
        failure(),
        failure(),
      ]);

      expect(answers.map(({ isCounted }) => isCounted)).toEqual([true, true, true, true, false]);
      expect(answers.map(({ changedTo }) => changedTo)).toEqual([null, null, null, "open", null]);
      expect(await breaker(store, "smtp")).toMatchObject({ state: "closed", failures: 1 });
    });

    test("begins to count anew after a success, and writes nothing without failures", async () => {
      await using db = await open();
      const { store } = db;
      await succeed(store);
      expect(await store.breakers()).toEqual([]);
      await fail(store);
      await fail(store);

      await succeed(store);

      expect(await breaker(store)).toMatchObject({ failures: 0, successes: 1, reason: null });
      await fail(store);
      await fail(store);
      expect(await breaker(store)).toMatchObject({ state: "closed", failures: 2 });
    });

    test("closes the breaker by the success of the probe, and by no other", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await add(store, {});
      await outage(store);
      await clock.advance(OPEN_MS);
      const { job } = await takeProbe(store);
      expect(await succeed(store, { key: job.key, n: job.n + 1 })).toMatchObject({
        changedTo: null,
      });
      expect(await succeed(store)).toMatchObject({ changedTo: null });

      expect(await succeed(store, job)).toMatchObject({ changedTo: "closed" });

      expect(await breaker(store)).toMatchObject({ state: "closed", failures: 0, probe: null });
      const states = (await store.breakerChanges("bank", 10)).map(({ state }) => state);
      expect(states).toEqual(["closed", "half_open", "open"]);
    });

    test("closes the breaker on trial by a probe that implies a success", async () => {
      await using db = await open();
      const { store, clock } = db;
      const { job } = await outageWithProbe(db);
      expect(await imply(store, RUN)).toMatchObject({ changedTo: null });

      expect(await imply(store, job)).toEqual({
        isCounted: true,
        waitMs: null,
        changedTo: "closed",
      });

      const reason =
        "the next failure opens the breaker: a probe of several services closed it on trial";
      const onTrial = { state: "closed", failures: 3, successes: 0, probe: null, reason };
      expect(await breaker(store)).toMatchObject(onTrial);
      const [change] = await store.breakerChanges("bank", 1);
      expect(change).toEqual({ at: clock.now(), state: "closed", failures: 3, reason, by: null });
      expect(await imply(store, job)).toMatchObject({ changedTo: null });
      expect(await fail(store)).toMatchObject({ isCounted: true, changedTo: "open" });
      expect(await fail(store)).toMatchObject({ isCounted: false, waitMs: OPEN_MS });
    });

    test("ends the trial of a breaker by a success", async () => {
      await using db = await open();
      const { store } = db;
      const { job } = await outageWithProbe(db);
      await imply(store, job);

      await succeed(store);

      expect(await breaker(store)).toMatchObject({ failures: 0, successes: 1, reason: null });
      expect(await fail(store)).toMatchObject({ isCounted: true, changedTo: null });
    });

    test("opens a breaker on trial when the service asks for a pause", async () => {
      await using db = await open();
      const { store, clock } = db;
      const { job } = await outageWithProbe(db);
      await imply(store, job);
      const own = await fail(store, { park: TENANT_PARK, tenant: "acme" });
      expect(own).toMatchObject({ isCounted: true, changedTo: null });

      const park = { forMs: 90_000, tenant: null };
      expect(await fail(store, { park })).toMatchObject({ isCounted: true, changedTo: "open" });

      expect(await breaker(store)).toMatchObject({ state: "open", failures: 4 });
      await clock.advance(OPEN_MS);
      expect(await probe(store)).toBeNull();
    });

    test("opens the breaker again by the failure of the probe, which counts", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await add(store, {});
      await outage(store);
      await clock.advance(OPEN_MS);
      const { job } = await takeProbe(store);
      expect(await fail(store)).toEqual({ isCounted: false, waitMs: null, changedTo: null });

      expect(await fail(store, { run: job })).toMatchObject({ isCounted: true, changedTo: "open" });

      expect(await breaker(store)).toMatchObject({
        state: "open",
        failures: 4,
        probe: null,
        probeAtMs: clock.now() + OPEN_MS,
      });
    });

    test("counts every failure once when processes report at the same time", async () => {
      await using db = await open();
      const stores = [db.store, await db.another(), await db.another()];
      const limits = { ...LIMITS, failuresMax: 5 };
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, index) =>
          fail(stores[index % 3]!, { run: { key: index + 1, n: 1 }, limits }),
        ),
      );

      expect(answers.filter(({ isCounted }) => isCounted)).toHaveLength(5);
      expect(answers.filter(({ changedTo }) => changedTo === "open")).toHaveLength(1);
      expect(await breaker(db.store)).toMatchObject({ state: "open", failures: 5 });
      expect(await db.store.breakerChanges("bank", 10)).toHaveLength(1);
    });

    test("parks a service that has asked for a pause; the latest end counts", async () => {
      await using db = await open();
      const { store, clock } = db;
      const park = { forMs: 30_000, tenant: null };
      expect(await fail(store, { park })).toMatchObject({ isCounted: true });
      const sooner = { park: { forMs: 10_000, tenant: null }, reason: "sooner" };
      expect(await fail(store, sooner)).toEqual({
        isCounted: false,
        waitMs: 30_000,
        changedTo: null,
      });

      expect(await breaker(store)).toMatchObject({
        state: "closed",
        failures: 1,
        parks: [{ tenant: null, until: clock.now() + 30_000, reason: "hung up" }],
      });
      await clock.advance(30_000);
      expect((await breaker(store)).parks).toEqual([]);
      expect(await fail(store)).toMatchObject({ isCounted: true });
    });

    test("parks one tenant, without a count for the breaker", async () => {
      await using db = await open();
      const { store, clock } = db;
      const park = TENANT_PARK;
      expect(await fail(store, { park, tenant: "acme" })).toMatchObject({ isCounted: true });
      expect(await breaker(store)).toMatchObject({
        failures: 0,
        parks: [{ tenant: "acme", until: clock.now() + 30_000 }],
      });

      const again = await fail(store, { park, tenant: "acme" });
      const other = await fail(store, { tenant: "other" });

      expect(again).toMatchObject({ isCounted: false, waitMs: 30_000 });
      expect(other).toMatchObject({ isCounted: true });
      expect(await breaker(store)).toMatchObject({ failures: 1 });
    });

    test("removes its history by retention", async () => {
      await using db = await open();
      const { store, clock } = db;
      await outage(store);
      await clock.advance(5_000);
      await store.resetBreaker("bank", "ada");
      await clock.advance(5_000);

      await store.prune(retention({ eventMs: 7_000 }), 100);

      const states = (await store.breakerChanges("bank", 10)).map(({ state }) => state);
      expect(states).toEqual(["closed"]);
    });
  });
}
