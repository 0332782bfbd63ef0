import { describe, expect, test } from "vitest";
import { completed as succeeded } from "../../support/factories.ts";
import { add, claimable, settleAll, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const HOUR = 3_600_000;
const MISSING = "0".repeat(26);

export function rescheduleSuite(open: OpenStore): void {
  describe("setPriority", () => {
    test("changes the order of waiting jobs, and what the job shows", async () => {
      await using db = await open();
      const { store } = db;
      const [one, two] = await add(store, { priority: 50 }, { priority: 50 });

      expect(await store.setPriority(two, 10)).toEqual({ status: "done", state: "queued" });

      expect(await store.get(two)).toMatchObject({ priority: 10, state: "queued" });
      expect(await claimable(store)).toEqual([two, one]);
    });

    test("changes jobs that are due later or wait for others", async () => {
      await using db = await open();
      const { store } = db;
      const [later] = await add(store, { due: { delayMs: HOUR } });
      const [dependant] = await add(store, { after: [later] });

      expect(await store.setPriority(later, 7)).toEqual({ status: "done", state: "scheduled" });
      expect(await store.setPriority(dependant, 8)).toEqual({ status: "done", state: "queued" });
      expect(await store.get(later)).toMatchObject({ priority: 7 });
      expect(await store.get(dependant)).toMatchObject({ priority: 8 });
    });

    test("changes no running, final or unknown job", async () => {
      await using db = await open();
      const { store } = db;
      const [job] = await add(store, { priority: 50 });
      const taken = await take(store);

      expect(await store.setPriority(job, 1)).toEqual({ status: "running" });
      await settleAll(store, taken, succeeded());
      expect(await store.setPriority(job, 1)).toEqual({ status: "final", state: "completed" });
      expect(await store.setPriority(MISSING, 1)).toEqual({ status: "unknown" });
      expect(await store.get(job)).toMatchObject({ priority: 50 });
    });
  });

  describe("reschedule", () => {
    test("makes a queued job due later, and a scheduled one due now", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [job] = await add(store, {});
      const at = clock.now() + HOUR;

      expect(await store.reschedule(job, { at })).toEqual({ status: "done", state: "scheduled" });
      expect(await store.get(job)).toMatchObject({ state: "scheduled", runAt: at });
      expect(await claimable(store)).toEqual([]);
      expect(await store.reschedule(job, { delayMs: 0 })).toEqual({
        status: "done",
        state: "queued",
      });
      expect(await claimable(store)).toEqual([job]);
    });

    test("keeps the priority and the attempts of the job", async () => {
      await using db = await open();
      const { store } = db;
      const [job] = await add(store, { priority: 50 });
      await store.setPriority(job, 3);

      await store.reschedule(job, { delayMs: HOUR });

      expect(await store.get(job)).toMatchObject({ priority: 3, attempts: 0 });
    });

    test("lets a job wait for its dependencies", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [first] = await add(store, {});
      const [dependant] = await add(store, { after: [first] });
      const at = clock.now() + HOUR;

      expect(await store.reschedule(dependant, { at })).toEqual({
        status: "done",
        state: "queued",
      });
      await settleAll(store, await take(store), succeeded());
      await store.resolveDependencies(10);

      expect(await store.get(dependant)).toMatchObject({ state: "scheduled", runAt: at });
    });

    test("changes no running, final or unknown job", async () => {
      await using db = await open();
      const { store } = db;
      const [job] = await add(store, {});
      const taken = await take(store);

      expect(await store.reschedule(job, { delayMs: 0 })).toEqual({ status: "running" });
      await settleAll(store, taken, succeeded());
      expect(await store.reschedule(job, { delayMs: 0 })).toEqual({
        status: "final",
        state: "completed",
      });
      expect(await store.reschedule(MISSING, { delayMs: 0 })).toEqual({ status: "unknown" });
    });
  });
}
