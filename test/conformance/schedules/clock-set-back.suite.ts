/** Schedules whose clock was ahead and went back, on SQLite that of the host. */
import { describe, expect, test } from "vitest";
import { firstSlot, planTicks } from "../../../src/core/cron/plan.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { DecideTicks } from "../../../src/store/types/schedules.ts";
import { jobId, newJob, newSchedule } from "../../support/factories.ts";
import type { OpenStore } from "../../support/stores.ts";

const HOUR = 3_600_000;
const NEW = { revision: null, by: null };

/** As the worker decides. */
const decide: DecideTicks = (schedule, now, ticked) => {
  const { slots, missed, nextSlot } = planTicks(schedule, schedule.nextSlot, now, ticked);
  const ticks = slots.map((slot) => {
    return { slot, job: { ...schedule.job, id: jobId(), due: { at: slot } } };
  });
  return { ticks, missed, nextSlot };
};

interface Ahead {
  readonly made: readonly number[];
  readonly missed?: { readonly first: number; readonly last: number };
  readonly nextSlot: number | null;
}

/**
 * A schedule that was ticked while the clock was hours ahead. All numbers are hours after the hour
 * that has begun, which is answered.
 */
async function tickedAhead(
  { store, clock }: { store: JobStore; clock: { now(): number } },
  { made, missed, nextSlot }: Ahead,
  overrides: Parameters<typeof newSchedule>[0] = {},
): Promise<(hours: number) => number> {
  const begun = Math.floor(clock.now() / HOUR) * HOUR;
  const at = (hours: number): number => begun + hours * HOUR;
  await store.saveSchedule(newSchedule(overrides), NEW, () => begun);
  await store.tickSchedule("hourly", () => ({
    ticks: made.map((hours) => ({ slot: at(hours), job: newJob() })),
    missed: missed === undefined ? null : { first: at(missed.first), last: at(missed.last) },
    nextSlot: nextSlot === null ? null : at(nextSlot),
  }));
  return at;
}

export function clockSetBackSuite(open: OpenStore): void {
  describe("tickSchedule after the clock was ahead and went back", () => {
    test("goes on with the first slot after now (000-54)", async () => {
      await using db = await open();
      const { store } = db;
      const ahead = { missed: { first: 1, last: 4 }, made: [0, 5], nextSlot: 6 };
      const at = await tickedAhead(db, ahead);
      expect(await store.dueSchedules([], 9)).toMatchObject({ names: ["hourly"] });

      expect(await store.tickSchedule("hourly", decide)).toEqual([]);

      expect(await store.schedule("hourly")).toMatchObject({ nextSlot: at(1), lastSlot: at(0) });
      const { names, nextMs } = await store.dueSchedules([], 9);
      expect([names, nextMs]).toEqual([[], at(1) - db.clock.now()]);
    });

    test("makes the slots that were missed, and no slot twice", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ahead = { missed: { first: 1, last: 2 }, made: [0, 3], nextSlot: 4 };
      const at = await tickedAhead(db, ahead);
      const outcomes: Record<number, readonly string[]> = {};

      for (let hour = 0; hour < 5; hour += 1) {
        // The first call corrects the next slot.
        const ticks = await store.tickSchedule("hourly", decide);
        outcomes[hour] = ticks.map(({ slot, outcome }) => `${(slot - at(0)) / HOUR} ${outcome}`);
        await clock.advance(HOUR);
      }

      expect(outcomes).toEqual({ 0: [], 1: ["1 made"], 2: ["2 made"], 3: [], 4: ["4 made"] });
      const kept = await store.scheduleTicks("hourly", { limit: 9 });
      expect(kept.map(({ slot, outcome }) => [slot, outcome])).toEqual(
        [4, 3, 2, 1, 0].map((hours) => [at(hours), "made"]),
      );
      expect((await store.count({}, 9)).count).toBe(5);
    });

    test("makes up for the newest missed slot that was not made ahead", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ahead = { missed: { first: 1, last: 2 }, made: [0, 3], nextSlot: 4 };
      const at = await tickedAhead(db, ahead, { missedMax: 1 });
      await store.tickSchedule("hourly", decide);
      // All schedulers are away until slot 3 has passed.
      await clock.advance(3 * HOUR + 120_000);

      const ticks = await store.tickSchedule("hourly", decide);

      const seen = ticks.map(({ slot, since, outcome }) => [outcome, since, slot]);
      expect(seen).toContainEqual(["made", null, at(2)]);
      expect(seen).toContainEqual(["missed", at(1), at(1)]);
      expect((await store.count({}, 9)).count).toBe(3);
    });

    test("keeps the next slot if all slots before it were made", async () => {
      await using db = await open();
      const { store } = db;
      const at = await tickedAhead(db, { made: [0, 1, 2], nextSlot: 3 });

      await store.tickSchedule("hourly", decide);

      expect(await store.schedule("hourly")).toMatchObject({ nextSlot: at(3), lastSlot: at(0) });
      expect(await store.dueSchedules([], 9)).toMatchObject({ names: [] });
    });

    test("goes on if the end of the schedule seemed to be over", async () => {
      await using db = await open();
      const { store, clock } = db;
      const endsAt = clock.now() + 3 * HOUR;
      const at = await tickedAhead(db, { made: [0, 3], nextSlot: null }, { endsAt });
      expect(await store.dueSchedules([], 9)).toMatchObject({ names: ["hourly"] });

      await store.tickSchedule("hourly", decide);

      expect(await store.schedule("hourly")).toMatchObject({ nextSlot: at(1) });
    });

    test("goes on if it was changed or made while the clock was ahead", async () => {
      await using db = await open();
      const { store, clock } = db;
      await clock.advance(5 * HOUR);
      await store.saveSchedule(newSchedule(), NEW, firstSlot);
      clock.setBack(5 * HOUR);
      expect(await store.dueSchedules([], 9)).toMatchObject({ names: ["hourly"] });

      await store.tickSchedule("hourly", decide);

      const nextSlot = firstSlot(newSchedule(), clock.now());
      expect(await store.schedule("hourly")).toMatchObject({ nextSlot, updatedAt: clock.now() });
      expect(await store.dueSchedules([], 9)).toMatchObject({ names: [] });
    });

    test("a paused schedule stays as it is", async () => {
      await using db = await open();
      const { store } = db;
      const at = await tickedAhead(db, { made: [0, 5], nextSlot: 6 });
      await store.pauseSchedule("hourly", { reason: "a bug", by: null });

      await store.tickSchedule("hourly", decide);

      expect(await store.dueSchedules([], 9)).toMatchObject({ names: [] });
      expect(await store.schedule("hourly")).toMatchObject({ nextSlot: at(6), lastSlot: at(5) });
    });

    test("ticks of later slots displace no tick of an earlier one", async () => {
      await using db = await open();
      const { store, clock } = db;
      const later = Array.from({ length: 120 }, (_, n) => 50 + n);
      const at = await tickedAhead(db, { made: [0, ...later], nextSlot: 200 });
      await store.tickSchedule("hourly", decide);
      await clock.advance(HOUR);

      await store.tickSchedule("hourly", decide);

      const page = { before: at(2), limit: 9 };
      const kept = await store.scheduleTicks("hourly", page);
      expect(kept.map(({ slot }) => slot)).toEqual([at(1), at(0)]);
      const ahead = await store.scheduleTicks("hourly", { limit: 500 });
      expect(ahead).toHaveLength(102);
      expect(ahead.at(-3)).toMatchObject({ slot: at(50) });
    });
  });
}
