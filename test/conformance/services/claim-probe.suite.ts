import { describe, expect, test } from "vitest";
import { completed, crashedTimes } from "../../support/factories.ts";
import {
  add,
  addCrashed,
  claimable,
  claimRequest,
  eventsOf,
  joinWorker,
  stateOf,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import {
  breaker,
  fail,
  LIMITS,
  OPEN_MS,
  outage,
  probe,
  probeRequest,
  RUN,
  succeed,
  takeProbe,
  uses,
} from "./scene.ts";

export function claimProbeSuite(open: OpenStore): void {
  describe("claimProbe", () => {
    test("takes the most urgent job when the probe is due, and only then", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      const [, urgent] = await add(store, { priority: 200 }, { priority: 50 });
      await outage(store);
      await clock.advance(OPEN_MS - 1);
      expect(await probe(store)).toBeNull();
      expect(await store.promote(10)).toMatchObject({ probeInMs: 1 });
      await clock.advance(1);
      expect(await store.promote(10)).toMatchObject({ probeInMs: 0 });

      const claim = await takeProbe(store);

      expect(claim).toMatchObject({ job: { id: urgent }, services: ["bank"] });
      expect(await stateOf(store, urgent)).toBe("running");
      expect(await eventsOf(store, urgent)).toEqual(["job:enqueued", "job:started"]);
      expect(await breaker(store)).toMatchObject({
        state: "half_open",
        halfOpenedAtMs: clock.now(),
        probe: { job: urgent, n: claim.job.n },
      });
      expect(await store.promote(10)).toMatchObject({ probeInMs: null });
      const item = { lease: claim.lease, key: claim.job.key, n: claim.job.n };
      expect(await store.settle([{ ...item, settlement: completed() }])).toEqual(["settled"]);
    });

    test("takes no job while the installation is paused", async () => {
      await using db = await open();
      const { store, clock } = db;
      const all = { kind: "installation", name: "all" } as const;
      await uses(store, ["bank"]);
      await add(store, {});
      await outage(store);
      await clock.advance(OPEN_MS);
      await store.pause(all, { reason: "a deploy", by: null });
      expect(await probe(store)).toBeNull();
      await store.resume(all);

      expect(await probe(store)).not.toBeNull();
    });

    test("takes the most urgent job that is held", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await addCrashed(store, 3, { priority: 1 });
      const [, , urgent] = await add(
        store,
        { priority: 200 },
        { priority: 10, tenant: "acme" },
        { priority: 50 },
      );
      await fail(store, { park: { forMs: 9 * OPEN_MS, tenant: "acme" }, tenant: "acme" });
      await outage(store);
      expect(await store.hold(10)).toBe(4);
      await clock.advance(OPEN_MS);

      expect(await takeProbe(store)).toMatchObject({ job: { id: urgent }, services: ["bank"] });
    });

    test("takes one probe at a time, however many processes ask", async () => {
      await using db = await open();
      const { clock } = db;
      const stores = [db.store, await db.another(), await db.another()];
      await uses(db.store, ["bank"]);
      await add(db.store, ...Array.from({ length: 40 }, () => ({})));
      const info = { leaseMs: 1_000 * OPEN_MS };
      const workers = await Promise.all(stores.map((store) => joinWorker(store, info)));
      for (let round = 0; round < 5; round += 1) {
        await db.store.resetBreaker("bank", null);
        await outage(db.store);
        await clock.advance(OPEN_MS);

        const claims = await Promise.all(
          Array.from({ length: 12 }, (_, index) =>
            stores[index % 3]!.claimProbe(probeRequest(workers[index % 3]!)),
          ),
        );

        expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
      }
      await clock.advance(100 * OPEN_MS);
      const [again] = await Promise.all(stores.map((store) => probe(store)));
      expect(again).toBeNull();
    });

    test("replaces a probe whose run has ended without a report", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      const [first, second] = await add(store, {}, {});
      await outage(store);
      await clock.advance(OPEN_MS);
      const { job, lease } = await takeProbe(store);
      expect(job.id).toBe(first);
      await store.settle([{ lease, key: job.key, n: job.n, settlement: completed() }]);
      expect(await store.promote(10)).toMatchObject({ probeInMs: 0 });

      expect((await takeProbe(store)).job.id).toBe(second);
      expect(await breaker(store)).toMatchObject({ probe: { job: second } });
    });

    test("waits after a probe that has reported no verdict as after a failure", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      const [, second] = await add(store, {}, {});
      await outage(store);
      await clock.advance(OPEN_MS);
      const { job, lease } = await takeProbe(store);
      const run = { key: job.key, n: job.n };
      const report = { outcome: "undecided", service: "bank", limits: LIMITS } as const;
      const [other] = await store.reportCalls([{ ...report, run: RUN }]);
      expect(other).toMatchObject({ changedTo: null });

      const [answer] = await store.reportCalls([{ ...report, run }]);

      expect(answer).toMatchObject({ changedTo: "open" });
      await store.settle([{ lease, ...run, settlement: completed() }]);
      const probeAtMs = clock.now() + OPEN_MS;
      expect(await breaker(store)).toMatchObject({ state: "open", failures: 3, probeAtMs });
      expect(await store.promote(10)).toMatchObject({ probeInMs: OPEN_MS });
      expect(await probe(store)).toBeNull();
      await clock.advance(OPEN_MS);
      expect((await takeProbe(store)).job.id).toBe(second);
    });

    test("waits after a probe whose service has asked one tenant for a pause", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      const [, second] = await add(store, { tenant: "acme" }, { tenant: "other" });
      await outage(store);
      await clock.advance(OPEN_MS);
      const { job, lease } = await takeProbe(store);
      const run = { key: job.key, n: job.n };
      const park = { forMs: 9 * OPEN_MS, tenant: "acme" };

      const answer = await fail(store, { run, park, tenant: "acme" });

      expect(answer).toEqual({ isCounted: true, waitMs: null, changedTo: "open" });
      await store.settle([{ lease, ...run, settlement: completed() }]);
      const probeAtMs = clock.now() + OPEN_MS;
      expect(await breaker(store)).toMatchObject({ state: "open", failures: 3, probeAtMs });
      expect(await probe(store)).toBeNull();
      await clock.advance(OPEN_MS);
      expect((await takeProbe(store)).job.id).toBe(second);
    });

    test("replaces a probe whose worker has died", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      const [id] = await add(store, {});
      await outage(store);
      await clock.advance(OPEN_MS);
      const worker = await joinWorker(store, { leaseMs: 1_000 });
      await store.claimProbe(probeRequest(worker));
      await clock.advance(2_000);
      expect(await probe(store)).toBeNull();

      const decide = () => ({ ...crashedTimes(1), delayMs: 0, to: "queued" }) as const;
      await store.rescue({ worker, beats: 0, limit: 10, decide });

      expect(await takeProbe(store)).toMatchObject({ job: { id, crashes: 1, n: 2 } });
    });

    test("leaves jobs that another gate, key or lane holds back", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await outage(store);
      await clock.advance(OPEN_MS);
      for (const gate of [
        { kind: "lane", name: "slow" },
        { kind: "tenant", name: "acme" },
        { kind: "type", name: "email" },
        { kind: "service", name: "bank" },
      ] as const) {
        // The jobs of earlier turns are held.
        await add(store, { lane: "slow", tenant: "acme" });
        await store.pause(gate, { reason: "audit", by: null });
        expect(await probe(store)).toBeNull();
        await store.hold(10);
        expect(await probe(store)).toBeNull();
        await store.resume(gate);
        await store.release(10);
      }
      expect(await probe(store, { lanes: ["fast"] })).toBeNull();
      expect(await probe(store, { types: ["sms"] })).toBeNull();
      expect(await probe(store, { tenants: ["other"] })).toBeNull();
      expect(
        await probe(store, { lanes: ["slow"], types: ["email"], tenants: ["acme"] }),
      ).toBeTruthy();
    });

    test("leaves jobs of a key that a run holds, and takes the key of its job", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await add(store, { type: "sms", concurrencyKey: "k" });
      const worker = await joinWorker(store);
      await store.claim(claimRequest(worker, { types: ["sms"] }));
      const [, other] = await add(store, { concurrencyKey: "k" }, { concurrencyKey: "own" });
      await outage(store);
      await clock.advance(OPEN_MS);

      expect(await takeProbe(store)).toMatchObject({ job: { id: other } });
      expect(await store.lockHolder("default", "own")).toBe(other);
    });

    test("does not try a service that has asked for a pause", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await add(store, { tenant: "acme" });
      await fail(store, { park: { forMs: 2 * OPEN_MS, tenant: null } });
      await store.openBreaker("bank", { reason: "x", by: null });
      await store.resetBreaker("bank", null);
      await outage(store);
      await fail(store, { park: { forMs: 2 * OPEN_MS, tenant: null } });
      await clock.advance(OPEN_MS);
      expect(await probe(store)).toBeNull();
      await clock.advance(OPEN_MS);
      expect(await takeProbe(store)).toBeTruthy();
    });

    test("does not try a job of a tenant that has to wait", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await add(store, { tenant: "acme", priority: 1 });
      const [other] = await add(store, { tenant: "other" });
      const park = { forMs: 9 * OPEN_MS, tenant: "acme" };
      await fail(store, { park, tenant: "acme" });
      await outage(store);
      await clock.advance(OPEN_MS);

      expect(await takeProbe(store)).toMatchObject({ job: { id: other } });
    });

    test("tries all services of a job at once, if all of them are due", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank", "smtp"]);
      await add(store, {});
      await outage(store, "bank");
      await clock.advance(1_000);
      await outage(store, "smtp");
      await clock.advance(OPEN_MS - 1_000);
      expect(await probe(store)).toBeNull();
      await store.hold(10);
      expect(await probe(store)).toBeNull();
      await clock.advance(1_000);

      const { job, services } = await takeProbe(store);

      expect([...services].toSorted()).toEqual(["bank", "smtp"]);
      await succeed(store, job);
      expect(await breaker(store, "bank")).toMatchObject({ state: "closed" });
      expect(await breaker(store, "smtp")).toMatchObject({ state: "half_open" });
    });

    test("does not take jobs that must run alone, quiet workers and lost ones", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await addCrashed(store, 3, {});
      await outage(store);
      await clock.advance(OPEN_MS);
      expect(await probe(store)).toBeNull();
      await add(store, {});
      const [quiet, lost] = [await joinWorker(store), await joinWorker(store)];
      await store.quiet(quiet);
      await store.deregister(lost);
      expect(await store.claimProbe(probeRequest(quiet))).toBeNull();
      expect(await store.claimProbe(probeRequest(lost))).toBeNull();
      expect(await takeProbe(store)).toBeTruthy();
    });

    test("lets all jobs run when the probe has succeeded", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await add(store, {}, {}, {});
      await outage(store);
      await store.hold(10);
      await clock.advance(OPEN_MS);
      const { job } = await takeProbe(store);
      expect(await claimable(store)).toEqual([]);

      await succeed(store, job);
      await store.release(10);

      expect(await claimable(store)).toHaveLength(2);
    });
  });
}
