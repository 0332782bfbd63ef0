/** What operators do with schedules, and a leap of the clock over more than a minute. */
import type { Timing } from "millrace";
import { CODE_NAMES, everySeconds, operated, OPERATOR_NAMES, PERIODS } from "../fleet/schedules.ts";
import type { ActionContext, Operation } from "./action-context.ts";
import type { Draw } from "./draw.ts";
import type { Operation as Kind } from "./plan.ts";

const NAMES = [...CODE_NAMES, ...OPERATOR_NAMES];

export const SCHEDULE_OPERATIONS: Readonly<Partial<Record<Kind, Operation>>> = {
  pauseSchedule: (_, { client }, draw) =>
    client.schedules.pause(draw.one(NAMES) ?? "", `planned ${draw.upTo(1_000)}`),
  resumeSchedule: (context, { client }, draw) =>
    client.schedules.resume(pausedName(context, draw) ?? draw.one(NAMES) ?? ""),
  runSchedule: (_, { client }, draw) => client.schedules.runNow(draw.one(NAMES) ?? ""),
  async saveSchedule({ watch }, { client }, draw) {
    // An edit of what code owns is refused.
    const isForeign = draw.upTo(8) === 0;
    const name = draw.one(isForeign ? CODE_NAMES : OPERATOR_NAMES) ?? "";
    const isNew = !watch.committed.schedules.has(name);
    if (isNew) await client.schedules.create(operated(name, timing(draw)));
    else await client.schedules.update(name, timing(draw));
  },
  removeSchedule: (_, { client }, draw) => client.schedules.remove(draw.one(NAMES) ?? ""),
};

function pausedName({ watch }: ActionContext, draw: Draw): string | undefined {
  const paused = [...watch.committed.schedules.values()].filter((row) => row.paused_at !== null);
  return draw.one(paused)?.name;
}

function timing(draw: Draw): Timing {
  return {
    cron: everySeconds(draw.one(PERIODS) ?? 1),
    missed: draw.one(["skip", "once", { all: 3 }] as const) ?? "once",
    overlap: draw.one(["queue", "skip", "replace"] as const) ?? "queue",
  };
}

/** Further than a slot may be late. */
export function leap({ world }: ActionContext, draw: Draw): void {
  world.jumpMs += 61_000 + draw.upTo(60_000);
}
