/** Jobs that must run alone, beside limits that are used up. */
import { describe, expect, test } from "vitest";
import { LONE_DEATHS_MAX, PROBE_MS_MIN } from "../../../src/core/crashes.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { diedAlone } from "../../support/factories.ts";
import {
  add,
  addCrashed,
  claimableAlone,
  claimRequest,
  joinWorker,
  rescueSilent,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const SMS = { kind: "type", name: "sms" } as const;
const ACME = { kind: "tenant", name: "acme" } as const;
const ONE = { concurrency: 1, rate: null } as const;
const CRASHED = { once: 1, often: 1, cap: 3 } as const;

/** A job of the limit runs: a limit of one is used up. */
async function useUp(
  store: JobStore,
  limit: typeof SMS | typeof ACME,
  concurrency = 1,
): Promise<void> {
  await store.setLimit(limit, { concurrency, rate: null }, null);
  const of = limit.kind === "type" ? { type: limit.name } : { tenant: limit.name };
  await add(store, { ...of, lane: "busy" });
  const worker = await joinWorker(store, { leaseMs: 86_400_000 });
  await takeOne(store, { worker, lanes: ["busy"] });
}

/** Closes the gate of a type: its next job is a probe. */
async function closeGate(store: JobStore, type: string): Promise<void> {
  for (let count = 0; count < LONE_DEATHS_MAX; count += 1) {
    await add(store, { type, lane: "deaths" });
    const { worker } = await takeOne(store, { lanes: ["deaths"] });
    await store.deregister(worker);
    await rescueSilent(store, worker, { decide: () => diedAlone() });
  }
}

async function awaitsAlone(store: JobStore): Promise<boolean> {
  const request = claimRequest(await joinWorker(store), { crashed: CRASHED });
  return (await store.claim(request)).awaitsAlone;
}

export function limitedLoneRunsSuite(open: OpenStore): void {
  describe("claimAlone, with limits", () => {
    test.each([
      ["type", SMS, { type: "sms" }],
      ["tenant", ACME, { tenant: "acme" }],
    ] as const)("passes jobs of a %s whose limit is used up", async (_, limit, of) => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3, { ...of, priority: 1 });
      await useUp(store, limit);
      expect([await awaitsAlone(store), await claimableAlone(store)]).toEqual([false, null]);
      const next = await addCrashed(store, 3, { priority: 2 });
      expect(await awaitsAlone(store)).toBe(true);

      expect(await claimableAlone(store)).toBe(next);
    });

    test("passes such jobs in the queue of their limit", async () => {
      await using db = await open();
      const { store } = db;
      await addCrashed(store, 3, { type: "sms", priority: 1 });
      const next = await addCrashed(store, 3, { priority: 2 });
      await useUp(store, SMS);
      await store.hold(10);

      expect(await claimableAlone(store)).toBe(next);
    });

    test.each(["held", "not held"])("passes probes of such a type: %s", async (place) => {
      await using db = await open();
      const { store, clock } = db;
      await useUp(store, SMS, 2);
      await closeGate(store, "sms");
      await store.setLimit(SMS, ONE, null);
      await closeGate(store, "push");
      await add(store, { type: "sms", priority: 1 });
      const [probe] = await add(store, { type: "push", priority: 2 });
      if (place === "held") await store.hold(100);
      await clock.advance(PROBE_MS_MIN);

      expect(await claimableAlone(store)).toBe(probe);
    });

    test.each(["held", "not held"])("passes probes of such a tenant: %s", async (place) => {
      await using db = await open();
      const { store, clock } = db;
      await useUp(store, ACME);
      await closeGate(store, "push");
      await add(store, { type: "push", tenant: "acme", priority: 1 });
      const [probe] = await add(store, { type: "push", priority: 2 });
      if (place === "held") await store.hold(100);
      await clock.advance(PROBE_MS_MIN);

      expect(await claimableAlone(store)).toBe(probe);
    });
  });
}
