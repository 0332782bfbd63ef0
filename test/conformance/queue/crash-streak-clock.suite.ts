/** Crash streaks that began while the clock was ahead, on SQLite that of the host. */
import { describe, expect, test } from "vitest";
import { LONE_DEATHS_MAX, PROBE_MS_MIN } from "../../../src/core/crashes.ts";
import { diedAlone } from "../../support/factories.ts";
import {
  add,
  claimableAlone,
  claimRequest,
  joinWorker,
  rescueSilent,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore, TestStore } from "../../support/stores.ts";

const DAY = 86_400_000;
const CRASHED = { once: 1, often: 1, cap: 3 } as const;

/** Closes the gate of the type by three deaths. */
async function closeGate({ store }: TestStore): Promise<void> {
  for (let count = 0; count < LONE_DEATHS_MAX; count += 1) {
    await add(store, { lane: "deaths" });
    const { worker } = await takeOne(store, { lanes: ["deaths"] });
    await store.deregister(worker);
    await rescueSilent(store, worker, { decide: () => diedAlone() });
  }
}

async function awaitsAlone({ store }: TestStore): Promise<boolean> {
  const worker = await joinWorker(store);
  return (await store.claim(claimRequest(worker, { crashed: CRASHED }))).awaitsAlone;
}

export function crashStreakClockSetBackSuite(open: OpenStore): void {
  describe("claimAlone of a probe, after the clock was ahead", () => {
    test("takes the probe of a gate that was closed then, and the next one in time", async () => {
      await using db = await open();
      const { store, clock } = db;
      await clock.advance(DAY);
      await closeGate(db);
      const [id] = await add(store, {});

      clock.setBack(DAY);

      expect(await awaitsAlone(db)).toBe(true);
      expect(await claimableAlone(store)).toBe(id);
      expect(await claimableAlone(store)).toBeNull();
      await clock.advance(2 * PROBE_MS_MIN - 1);
      expect([await awaitsAlone(db), await claimableAlone(store)]).toEqual([false, null]);
      await clock.advance(1);
      expect(await claimableAlone(store)).toBe(id);
    });

    test("takes a probe if the one before was taken then", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(db);
      const [id] = await add(store, {});
      await clock.advance(DAY);
      expect(await claimableAlone(store)).toBe(id);

      clock.setBack(DAY);

      expect(await claimableAlone(store)).toBe(id);
    });
  });
}
