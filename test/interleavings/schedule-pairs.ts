/** Schedules that are ticked, run, changed and removed at the same time. */
import { planTicks } from "../../src/core/cron/plan.ts";
import type { ScheduleRecord, TickDecision } from "../../src/store/types/schedules.ts";
import { jobId, newSchedule } from "../support/factories.ts";
import type { PostgresTestStore } from "../support/stores.ts";
import * as judged from "./judgements.ts";
import { pair, type Pair } from "./pair.ts";
import { waiting, type Scene } from "./scenes.ts";
import type { Verb } from "./verbs.ts";

const NAME = "hourly";
const HOUR = 3_600_000;

const tick: Verb = (store) => store.tickSchedule(NAME, decide);
const runNow: Verb = (store) =>
  store.runSchedule(NAME, ({ job }) => ({ ...job, id: jobId(), due: { delayMs: 0 } }));
const remove: Verb = (store) => store.removeSchedule(NAME);
const pause: Verb = (store) => store.pauseSchedule(NAME, { reason: "planned", by: null });
const edit: Verb = (store) =>
  store.saveSchedule(
    newSchedule({ cron: "@daily" }),
    { revision: 1, by: null },
    (_, now) => now + HOUR,
  );

export const SCHEDULE_PAIRS: readonly Pair[] = [
  pair("tickSchedule / the same", due, tick, tick, async ({ db, left, right }) => [
    ...judged.exactlyOne("made the job of the slot", countOf(left) === 1, countOf(right) === 1),
    ...(await ticksLeft(db, 1)),
  ]),
  pair("tickSchedule / removeSchedule", due, tick, remove, ({ db }) => ticksLeft(db, 0)),
  pair("runSchedule / removeSchedule", due, runNow, remove, ({ db }) => ticksLeft(db, 0)),
  pair("tickSchedule / runSchedule", due, tick, runNow, ({ db }) => ticksLeft(db, 2)),
  pair("tickSchedule / pauseSchedule", due, tick, pause, async ({ db, left, right }) => [
    ...judged.complainIf(right !== true, "the schedule was not paused"),
    ...judged.complainIf((await stored(db))?.pausedAt === null, "the pause is lost"),
    ...(await ticksLeft(db, countOf(left))),
  ]),
  pair("tickSchedule / saveSchedule", due, tick, edit, async ({ db, right }) => {
    const schedule = await stored(db);
    return [
      ...judged.complainIf(right !== "saved", "the edit was refused"),
      ...judged.complainIf(schedule?.cron !== "@daily", "the edit is lost"),
      ...judged.complainIf(
        (schedule?.nextSlot ?? 0) !== db.clock.now() + HOUR,
        "the next slot is that of the old expression",
      ),
    ];
  }),
];

function decide(schedule: ScheduleRecord, now: number): TickDecision {
  const { slots, missed, nextSlot } = planTicks(schedule, schedule.nextSlot, now);
  const ticks = slots.map((slot) => {
    return { slot, job: { ...schedule.job, id: jobId(), due: { at: slot } } };
  });
  return { ticks, missed, nextSlot };
}

function countOf(ticks: unknown): number {
  return Array.isArray(ticks) ? ticks.length : 0;
}

/** A schedule of an operator whose slot is due. */
async function due(db: PostgresTestStore): Promise<Scene> {
  const slot = Math.floor(db.clock.now() / HOUR) * HOUR;
  await db.store.saveSchedule(newSchedule(), { revision: null, by: null }, () => slot);
  return waiting(db);
}

function stored({ store }: PostgresTestStore): Promise<ScheduleRecord | null> {
  return store.schedule(NAME);
}

async function ticksLeft({ store }: PostgresTestStore, count: number): Promise<readonly string[]> {
  const ticks = await store.scheduleTicks(NAME, { limit: 10 });
  return judged.complainIf(ticks.length !== count, `${ticks.length} ticks, not ${count}`);
}
