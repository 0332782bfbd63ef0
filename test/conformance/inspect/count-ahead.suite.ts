import { describe, expect, test } from "vitest";
import { jobId } from "../../support/factories.ts";
import { add, addCrashed, claimable, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { fail, uses } from "../services/scene.ts";

const WHY = { reason: "maintenance", by: null } as const;

export function countAheadSuite(open: OpenStore): void {
  describe("countAhead", () => {
    test("counts the due jobs of the lane that a claim takes first", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [late, first] = await add(store, { priority: 5 }, { priority: 3 });
      await add(store, { lane: "fast", priority: 1 }, { due: { delayMs: 60_000 }, priority: 1 });
      await clock.advance(10);
      const [last, soon] = await add(store, { priority: 5 }, { priority: 4 });

      const ahead = async (id: string) => (await store.countAhead(id, 100))?.jobs;
      const order = [first, soon, late, last];
      expect(await Promise.all(order.map(ahead))).toEqual([0, 1, 2, 3]);
      expect(await claimable(store, { lanes: ["general"] })).toEqual(order);
    });

    test("counts jobs that have crashed where they stand", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 1, { lane: "general", priority: 2 });
      await addCrashed(store, 2, { lane: "general", priority: 2 });
      await addCrashed(store, 1, { lane: "general", priority: 7 });
      await addCrashed(store, 1, { lane: "fast", priority: 2 });
      const [id] = await add(store, { priority: 5 });

      expect(await store.countAhead(id, 100)).toEqual({ jobs: 2, isExact: true });
    });

    test.each([
      { gate: { kind: "type", name: "sms" } },
      { gate: { kind: "tenant", name: "acme" } },
      { gate: { kind: "service", name: "bank" } },
    ] as const)("leaves out jobs behind a closed $gate.kind", async ({ gate }) => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"], "sms");
      await add(store, { type: "sms", tenant: "acme" });
      const [, id] = await add(store, {}, {});

      expect(await store.countAhead(id, 100)).toEqual({ jobs: 2, isExact: true });
      await store.pause(gate, WHY);
      expect(await store.countAhead(id, 100)).toEqual({ jobs: 1, isExact: true });
      await store.resume(gate);
      expect(await store.countAhead(id, 100)).toMatchObject({ jobs: 2 });
    });

    test("leaves out jobs of a tenant for which a service has asked for a pause", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"], "sms");
      await add(store, { type: "sms", tenant: "acme" }, { type: "sms" }, { tenant: "acme" });
      const [id] = await add(store, {});

      await fail(store, { park: { forMs: 60_000, tenant: "acme" }, tenant: "acme" });

      expect(await store.countAhead(id, 100)).toEqual({ jobs: 2, isExact: true });
    });

    test("leaves out jobs whose concurrency key is taken", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { concurrencyKey: "a" });
      await take(store);
      await add(store, { concurrencyKey: "a" }, { concurrencyKey: "b" });
      await add(store, { concurrencyKey: "a", tenant: "acme" });
      const [id] = await add(store, {});

      expect(await store.countAhead(id, 100)).toEqual({ jobs: 2, isExact: true });
    });

    test("counts the jobs of one tenant only, if asked to", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, { tenant: "acme" }, { tenant: "acme" });
      const [id] = await add(store, { tenant: "acme" });

      expect(await store.countAhead(id, 100, "acme")).toEqual({ jobs: 2, isExact: true });
      expect(await store.countAhead(id, 100, "default")).toEqual({ jobs: 1, isExact: true });
      expect(await store.countAhead(id, 100, "unheard")).toEqual({ jobs: 0, isExact: true });
    });

    test("reads at most so many rows, and says so", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {}, {});
      const [id] = await add(store, {});

      expect(await store.countAhead(id, 4)).toEqual({ jobs: 3, isExact: true });
      expect(await store.countAhead(id, 2)).toEqual({ jobs: 2, isExact: false });
    });

    test("answers null for a job that is not due, runs, is held or does not exist", async () => {
      await using db = await open();
      const { store } = db;
      const [running] = await add(store, {});
      await take(store);
      const [later, held] = await add(store, { due: { delayMs: 1_000 } }, { type: "sms" });
      await store.pause({ kind: "type", name: "sms" }, WHY);
      await store.hold(10);

      for (const id of [running, later, held, jobId()]) {
        expect(await store.countAhead(id, 100)).toBeNull();
      }
    });
  });
}
