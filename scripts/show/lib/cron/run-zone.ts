/** Three schedulers of one database live through years, with outages, crashes and clock jumps. */
import { firstSlot, planTicks, type TickPlan } from "../../../../src/core/cron/plan.ts";
import type { Dice } from "../../../../src/core/clock.ts";
import { newId } from "../../../../src/core/ids.ts";
import type { ScheduleRecord, TickDecision } from "../../../../src/store/types/schedules.ts";
import { newSchedule } from "../../../../test/support/factories.ts";
import type { Handles } from "./databases.ts";
import type { Stretch } from "./reference.ts";
import { POLICIES, type ShownRule } from "./rules.ts";

export const PLANTS = ["double", "overlap", "gap"] as const;
export type Plant = (typeof PLANTS)[number];

export interface Life {
  readonly timeZone: string;
  readonly stretches: readonly Stretch[];
  readonly rules: readonly ShownRule[];
  readonly until: number;
  readonly dice: Dice;
  readonly time: { now: number };
  readonly plant: Plant | null;
}

/** What the schedulers have done with one schedule. */
export interface Diary {
  /** When the schedule was ticked with success. */
  readonly looks: number[];
  /** First and last of the missed slots, as they were told. */
  readonly missed: string[];
}

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const DUE_MAX = 10;

export function nameOf(rule: number, policy: string): string {
  return `${policy} ${rule}`;
}

export async function runZone(life: Life, handles: Handles): Promise<ReadonlyMap<string, Diary>> {
  const { rules, timeZone, until, dice, time, plant } = life;
  const { stores } = handles;
  const specs = rules.flatMap(({ cron, window, policies }, rule) =>
    policies.map((policy) => {
      const name = nameOf(rule, policy);
      const job = { payload: JSON.stringify(name) };
      const times = { startsAt: window?.startsAt ?? null, endsAt: window?.endsAt ?? null };
      return newSchedule({
        name,
        cron,
        timeZone,
        missedMax: POLICIES[policy],
        ...times,
        job,
      });
    }),
  );
  const names = specs.map(({ name }) => name);
  const diaries = new Map<string, Diary>(names.map((name) => [name, { looks: [], missed: [] }]));
  for (const store of stores) await store.declareSchedules(specs, firstSlot);
  const [first] = stores;
  while (time.now < until) {
    const { names: due, nextMs } = await first!.dueSchedules(names, DUE_MAX);
    if (due.length === 0) {
      if (nextMs === null) break;
      time.now = Math.min(until, Math.round(time.now + nextMs + lateness(dice)));
      continue;
    }
    for (const name of due) {
      // A scheduler dies before the commit; another one takes over.
      if (dice.random() < 0.02) await first!.tickSchedule(name, crash).catch(() => {});
      const diary = diaries.get(name)!;
      diary.looks.push(time.now);
      const told = await Promise.all(
        stores.map((store) =>
          store.tickSchedule(name, (schedule, now, ticked) => decide(life, schedule, now, ticked)),
        ),
      );
      for (const { outcome, since, slot } of told.flat()) {
        if (outcome === "missed") diary.missed.push(`${since} ${slot}`);
      }
      if (plant === "double" && dice.random() < 0.001) await handles.forgetTicks();
    }
  }
  return diaries;
}

/** Mostly some seconds. Sometimes all schedulers are away, and sometimes the clock jumps. */
function lateness(dice: Dice): number {
  const draw = dice.random();
  const soon = dice.random() * 20 * SECOND;
  if (draw < 0.01) return dice.random() * 30 * HOUR;
  if (draw < 0.02) return dice.random() * 10 * MINUTE;
  if (draw < 0.021) return dice.random() * 20 * DAY;
  if (draw > 0.98) return soon + (dice.random() - 0.5) * 3 * HOUR;
  return soon;
}

function crash(): never {
  throw new Error("killed");
}

/** As the worker decides. */
function decide(
  life: Life,
  schedule: ScheduleRecord,
  now: number,
  ticked: readonly number[],
): TickDecision {
  const plan = planTicks(schedule, schedule.nextSlot, now, ticked);
  const { slots, missed, nextSlot } = planted(life, schedule, plan);
  const ticks = slots.map((slot) => {
    return { slot, job: { ...schedule.job, id: newId(now, life.dice), due: { at: slot } } };
  });
  return { ticks, missed, nextSlot };
}

/** The planted faults of the decision. */
function planted({ plant, stretches }: Life, { cron }: ScheduleRecord, plan: TickPlan): TickPlan {
  const changes = stretches.slice(1).map(({ from, offset }, index) => {
    return { at: from, ms: offset - stretches[index]!.offset };
  });
  if (plant === "overlap" && cron.startsWith("*/20")) {
    const isSecond = (slot: number): boolean =>
      changes.some(({ at, ms }) => ms < 0 && slot >= at && slot < at - ms);
    return { ...plan, slots: plan.slots.filter((slot) => !isSecond(slot)) };
  }
  if (plant === "gap") {
    const afterGap = plan.slots.filter((slot) =>
      changes.some(({ at, ms }) => ms > 0 && at === slot),
    );
    return { ...plan, slots: [...plan.slots, ...afterGap] };
  }
  return plan;
}
