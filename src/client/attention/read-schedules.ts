/** Schedules for `mill.attention`: their last slot, and how its job has ended. */
import type { Facts, ScheduleFact } from "../../core/attention/facts.ts";
import type { JobStore } from "../../store/store.ts";
import { DECLARED_MS } from "../../store/roles/schedules.ts";
import type { ScheduleRecord, TickOutcome } from "../../store/types/schedules.ts";
import type { ReadContext, ReadFact } from "./reads.ts";

/** The schedules that are read, each with one more statement. */
const SCHEDULES_MAX = 200;
/** The newest ticks of a schedule: some may be of runs that a person asked for. */
const TICKS_MAX = 5;

export async function readSchedules(context: ReadContext): Promise<ReadFact<"schedules">> {
  const { store, now } = context;
  const found = await store.schedules({}, { limit: SCHEDULES_MAX + 1 });
  const schedules = found.slice(0, SCHEDULES_MAX);
  const failed = await failedAmong(
    store,
    schedules.flatMap(({ lastJob }) => lastJob ?? []),
  );
  const facts: Facts["schedules"][number][] = [];
  for (const schedule of schedules) {
    facts.push({
      name: schedule.name,
      type: schedule.job.type,
      isPaused: schedule.pausedAt !== null,
      isDeclared: isDeclared(schedule, now),
      nextSlot: schedule.nextSlot,
      lastTick: await lastTickOf(store, schedule),
      lastJobId: schedule.lastJob,
      hasFailed: schedule.lastJob !== null && failed.has(schedule.lastJob),
    });
  }
  return { facts, isPartial: found.length > SCHEDULES_MAX };
}

async function failedAmong(store: JobStore, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const ends = await store.ends(ids);
  return new Set(
    ends.flatMap((end) => (end.status === "final" && end.job.state === "failed" ? end.job.id : [])),
  );
}

function isDeclared({ owner, declaredAt }: ScheduleRecord, now: number): boolean {
  return owner === "operator" || (declaredAt ?? 0) > now - DECLARED_MS;
}

/** Nothing is reported of a paused schedule. */
async function lastTickOf(
  store: JobStore,
  { name, lastSlot, pausedAt }: ScheduleRecord,
): Promise<ScheduleFact["lastTick"]> {
  if (lastSlot === null || pausedAt !== null) return null;
  const ticks = await store.scheduleTicks(name, { limit: TICKS_MAX });
  const last = ticks.find(({ outcome }) => outcome !== "run_now");
  return last === undefined ? null : { outcome: VERDICTS[last.outcome], slot: last.slot };
}

/** What a person should know of. A skipped or replaced slot is what the schedule asks for. */
const VERDICTS: Readonly<Record<TickOutcome, NonNullable<ScheduleFact["lastTick"]>["outcome"]>> = {
  made: "well",
  skipped: "well",
  replaced: "well",
  duplicate: "well",
  run_now: "well",
  missed: "missed",
  refused: "refused",
  over_quota: "over_quota",
  intake_closed: "intake_closed",
};
