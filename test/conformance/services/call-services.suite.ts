import { describe, expect, test } from "vitest";
import { completed } from "../../support/factories.ts";
import { add, at, settleAll, take, takeOne } from "../../support/steps.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { CallAnswer, ServiceRun } from "../../../src/store/types/services.ts";
import type { OpenStore } from "../../support/stores.ts";
import { breaker, fail, OPEN_MS, outage, RUN } from "./scene.ts";

export function callServicesSuite(open: OpenStore): void {
  describe("callServices", () => {
    test("allows calls of a closed and of an unknown service, and writes nothing", async () => {
      await using db = await open();
      const { store } = db;
      expect(await call(store)).toEqual({ status: "allowed" });
      expect(await store.breakers()).toEqual([]);
      await fail(store);
      expect(await call(store)).toEqual({ status: "allowed" });
    });

    test("refuses calls of an open service until its probe is due", async () => {
      await using db = await open();
      const { store, clock } = db;
      await outage(store);
      await clock.advance(OPEN_MS - 1);

      expect(await call(store)).toEqual({
        status: "refused",
        waitMs: 1,
        reason: "its breaker is open after 3 failure(s): hung up",
      });
      expect(await call(store, { service: "smtp" })).toEqual({ status: "allowed" });
    });

    test("makes the first run that asks the probe", async () => {
      await using db = await open();
      const { store, clock } = db;
      await outage(store);
      await clock.advance(OPEN_MS);
      const run = await running(store);
      const calls = [run, RUN].map((each) => ({ service: "bank", run: each, tenant: "default" }));

      const answers = await store.callServices(calls);

      expect(answers).toMatchObject([{ status: "probe" }, { status: "refused", waitMs: null }]);
      expect(await breaker(store)).toMatchObject({
        state: "half_open",
        probeAtMs: null,
        halfOpenedAtMs: clock.now(),
        probe: { n: run.n },
      });
      expect(await call(store, { run })).toEqual({ status: "probe" });
      expect(await call(store)).toMatchObject({ status: "refused" });
    });

    test("makes one of many runs the probe when processes ask at the same time", async () => {
      await using db = await open();
      const stores = [db.store, await db.another(), await db.another()];
      await add(db.store, ...Array.from({ length: 12 }, () => ({})));
      await outage(db.store);
      await db.clock.advance(OPEN_MS);
      const { jobs } = await take(db.store, { limit: 12 });

      const answers = await Promise.all(
        jobs.map((job, index) => call(stores[index % 3]!, { run: { key: job.key, n: job.n } })),
      );

      expect(answers.filter(({ status }) => status === "probe")).toHaveLength(1);
      const changes = await db.store.breakerChanges("bank", 10);
      expect(changes.map(({ state }) => state)).toEqual(["half_open", "open"]);
    });

    test("replaces a probe whose run has ended without a verdict, and no other", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      await outage(store);
      await clock.advance(OPEN_MS);
      const batch = await take(store);
      const [job] = batch.jobs;
      const other = await running(store);
      await call(store, { run: { key: job!.key, n: job!.n } });
      await clock.advance(10 * OPEN_MS);
      expect(await call(store, { run: other })).toMatchObject({ status: "refused" });

      await settleAll(store, batch, completed());

      expect(await call(store, { run: other })).toEqual({ status: "probe" });
    });

    test("makes no run the probe that an operator has ended, and no run of no job", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const { job } = await takeOne(store);
      const ended = { key: job.key, n: job.n };
      const other = await running(store);
      await outage(store);
      await clock.advance(OPEN_MS);
      await store.intervene(id, () => completed());
      const calls = [ended, RUN, other].map((run) => {
        return { service: "bank", run, tenant: "default" };
      });

      const answers = await store.callServices(calls);

      const over = { status: "refused", waitMs: null, reason: "the run is over" };
      expect(answers).toEqual([over, over, { status: "probe" }]);
      expect(await call(store, { run: ended })).toMatchObject({ status: "refused" });
      expect(await breaker(store)).toMatchObject({ state: "half_open", probe: { n: other.n } });
    });

    test("refuses calls of a service that is paused or has asked for a pause", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.pause({ kind: "service", name: "bank" }, { reason: "audit", by: null });
      expect(await call(store)).toEqual({
        status: "refused",
        waitMs: null,
        reason: "it is paused: audit",
      });
      await store.resume({ kind: "service", name: "bank" });

      await fail(store, { park: { forMs: 5_000, tenant: null } });
      expect(await call(store)).toMatchObject({ status: "refused", waitMs: 5_000 });
      await clock.advance(5_000);
      await fail(store, { park: { forMs: 5_000, tenant: "acme" }, tenant: "acme" });
      expect(await call(store)).toEqual({ status: "allowed" });
      expect(await call(store, { tenant: "acme" })).toMatchObject({ status: "refused" });
    });

    test("allows no probe of a service that an operator has opened (004-26)", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.openBreaker("bank", { reason: "they asked us to stop", by: "ada" });
      await clock.advance(100 * OPEN_MS);

      expect(await call(store)).toMatchObject({ status: "refused", waitMs: null });
    });
  });
}

async function call(
  store: JobStore,
  overrides: { service?: string; run?: ServiceRun; tenant?: string } = {},
): Promise<CallAnswer> {
  const asked = { service: "bank", run: RUN, tenant: "default", ...overrides };
  return at(await store.callServices([asked]), 0);
}

/** Another job that runs. */
async function running(store: JobStore): Promise<ServiceRun> {
  await add(store, {});
  const { jobs } = await take(store, { limit: 1 });
  const { key, n } = at(jobs, 0);
  return { key, n };
}
