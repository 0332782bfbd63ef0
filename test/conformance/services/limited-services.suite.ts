/** Limits beside services: a job must pass both. */
import { describe, expect, test } from "vitest";
import { newJobs } from "../../support/factories.ts";
import { add, claimable, joinWorker, recordOf, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { fail, OPEN_MS, outage, probe, takeProbe, uses } from "./scene.ts";

const ACME = { kind: "tenant", name: "acme" } as const;
const ONE = { concurrency: 1, rate: null } as const;

const LIMITED = {
  "of its type": { kind: "type", name: "email" },
  "of its tenant": ACME,
  "of its service": { kind: "service", name: "bank" },
} as const;

export function limitedServicesSuite(open: OpenStore): void {
  describe("claimProbe with limits", () => {
    test("gives a probe the permits that its job needs", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await store.setLimit(ACME, ONE, null);
      await add(store, { tenant: "acme" });
      await outage(store);
      await clock.advance(OPEN_MS);

      const claim = await takeProbe(store);

      const [limit] = await store.limits();
      expect(limit?.used).toBe(1);
      expect(claim.job.limits).toEqual([limit?.id]);
      expect(claim.granted).toEqual([{ limit: limit?.id, count: 1 }]);
    });

    test("takes no probe whose job gets no permit", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await store.setLimit(ACME, ONE, null);
      await add(store, { tenant: "acme", type: "sms" });
      const worker = await joinWorker(store, { leaseMs: 100 * OPEN_MS });
      await take(store, { worker });
      await add(store, { tenant: "acme" });
      await outage(store);
      await clock.advance(OPEN_MS);
      expect(await probe(store)).toBeNull();

      await store.keepPermits(worker, []);

      expect(await probe(store)).not.toBeNull();
    });

    test.each([
      { limit: "of its type", held: false },
      { limit: "of its type", held: true },
      { limit: "of its tenant", held: false },
      { limit: "of its tenant", held: true },
      { limit: "of its service", held: false },
      { limit: "of its service", held: true },
    ] as const)(
      "passes a more urgent job without a permit $limit (held: $held)",
      async ({ limit, held }) => {
        await using db = await open();
        const { store, clock } = db;
        await uses(store, ["bank"]);
        await uses(store, ["smtp"], "sms");
        await outage(store, "bank");
        await outage(store, "smtp");
        await store.setLimit(LIMITED[limit], ONE, null);
        const worker = await joinWorker(store, { leaseMs: 100 * OPEN_MS });
        await add(store, { tenant: "acme" });
        await clock.advance(OPEN_MS);
        expect(await probe(store, { worker, types: ["email"] })).not.toBeNull();
        await outage(store, "bank");
        await store.resetBreaker("bank", null);
        await outage(store, "bank");
        await clock.advance(OPEN_MS);
        await add(store, { tenant: "acme", priority: 1 });
        const [other] = await add(store, { type: "sms", tenant: "other", priority: 200 });
        if (held) await store.hold(10);

        expect(await probe(store)).toMatchObject({ job: { id: other }, services: ["smtp"] });
        expect(await probe(store)).toBeNull();
      },
    );
  });

  describe("services, with limits", () => {
    test("hold jobs back that wait for a limit", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"]);
      await store.setLimit(ACME, ONE, null);
      await add(store, { tenant: "acme", type: "sms" });
      const { worker } = await take(store);
      const [id] = await add(store, { tenant: "acme" });
      expect(await store.hold(10)).toBe(1);
      await outage(store);
      await store.keepPermits(worker, []);

      expect(await claimable(store)).toEqual([]);
      await store.hold(10);
      expect(await recordOf(store, id)).toMatchObject({
        heldBy: { kind: "service", name: "bank" },
      });
    });

    test("that have parked a tenant hold its jobs back that wait for a limit", async () => {
      await using db = await open();
      const { store, clock } = db;
      await uses(store, ["bank"]);
      await store.setLimit({ kind: "type", name: "email" }, ONE, null);
      await store.enqueue(newJobs(1));
      const worker = await joinWorker(store, { leaseMs: 100 * OPEN_MS });
      await take(store, { worker });
      const [parked] = await add(store, { tenant: "acme" });
      await store.hold(10);
      await fail(store, { park: { forMs: OPEN_MS, tenant: "acme" }, tenant: "acme" });
      await store.keepPermits(worker, []);
      expect(await claimable(store)).toEqual([]);

      await store.hold(10);
      expect(await recordOf(store, parked)).toMatchObject({ heldBy: { kind: "service" } });
      await clock.advance(OPEN_MS);
      await store.release(10);

      expect(await claimable(store)).toEqual([parked]);
    });
  });
}
