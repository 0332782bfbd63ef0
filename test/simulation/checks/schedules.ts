/**
 * What must be true of schedules in every step: each slot makes one job, missed slots obey their
 * policy and are recorded, overlaps obey theirs, and a pause makes no job. Slots are multiples of
 * a period here, so that they need no cron expression.
 */
import { periodMsOf } from "../fleet/schedules.ts";
import type { Report, Step } from "./invariants.ts";
import type { ScheduleRow, TickRow } from "./rows.ts";
import { finalState, type Snapshot } from "./snapshot.ts";

const GRACE_MS = 60_000;
/** Codes of overlap policies. */
const [QUEUE, SKIP, REPLACE] = [1, 2, 3];
/** Codes of the outcomes of ticks. */
const [MADE, SKIPPED, REPLACED, MISSED, RUN_NOW] = [1, 2, 3, 4, 7];

type Count = (name: string) => void;

/** The jobs of slots, for ever: by schedule and slot, of committed ticks. */
export class SlotJobs {
  readonly #jobs = new Map<string, string>();

  /** Called with each commit. */
  adopt(before: Snapshot, after: Snapshot, report: Report): void {
    if (before.schedules !== after.schedules) {
      for (const name of before.schedules.keys()) {
        if (!after.schedules.has(name)) this.#forget(name);
      }
    }
    if (before.ticks === after.ticks) return;
    for (const [name, { job }] of after.ticks) {
      if (job === null || before.ticks.get(name)?.job === job) continue;
      const known = this.#jobs.get(name);
      if (known !== undefined && known !== job) report("I12", `slot ${name} has made two jobs`);
      this.#jobs.set(name, job);
    }
  }

  /** After a loss of power only what is stored counts. */
  restore({ ticks }: Snapshot): void {
    this.#jobs.clear();
    for (const [name, { job }] of ticks) if (job !== null) this.#jobs.set(name, job);
  }

  #forget(schedule: string): void {
    for (const name of this.#jobs.keys()) {
      if (name.startsWith(`${schedule} `)) this.#jobs.delete(name);
    }
  }
}

export function checkSchedules(step: Step, report: Report, count: Count): void {
  const { before, after } = step;
  if (before.jobs !== after.jobs) checkJobs(step, report);
  if (before.schedules === after.schedules && before.ticks === after.ticks) return;
  for (const [name, now] of after.schedules) {
    const was = before.schedules.get(name);
    if (was === undefined || was === now) continue;
    checkOwner(was, now, report);
    const isResumed = was.paused_at !== null && now.paused_at === null;
    if (isResumed && (now.next_slot ?? Infinity) <= step.nowMs) {
      report("I12", `${name} goes on with a slot of its pause`);
    }
    if ((now.last_slot ?? 0) < (was.last_slot ?? 0)) checkSetBack(step, { was, now }, report);
    else if (now.last_slot !== was.last_slot) checkTick(step, { was, now }, report, count);
  }
  for (const [name, tick] of after.ticks) {
    if (before.ticks.has(name)) continue;
    const [was, now] = [before, after].map((each) => each.schedules.get(tick.schedule));
    if (now === undefined) report("I12", `tick ${name} has no schedule`);
    const isTick = now?.last_slot !== was?.last_slot;
    if (tick.outcome === RUN_NOW) count("schedule run now");
    else if (!isTick) report("I12", `slot ${name} was ticked, and its schedule did not go on`);
  }
}

/** A job that a schedule has made belongs to one tick. */
function checkJobs({ before, after, changed }: Step, report: Report): void {
  for (const key of changed) {
    const job = after.jobs.get(key);
    const isNew = job !== undefined && !before.jobs.has(key);
    if (!isNew || job.retry_of !== "" || !job.created_by?.startsWith("schedule ")) continue;
    const isTicked = [...after.ticks.values()].some((tick) => tick.job === job.id);
    if (!isTicked) report("I12", `job ${key} of ${job.created_by} has no slot of its own`);
  }
}

/** What code owns stays with code, and a pause stays until it is ended. */
function checkOwner(was: ScheduleRow, now: ScheduleRow, report: Report): void {
  const { name } = was;
  const isChanged = was.revision !== now.revision;
  if (isChanged && was.owner === 1 && now.owner !== 1) report("I12", `${name} was taken from code`);
  if (isChanged && was.paused_at !== now.paused_at) {
    report("I12", `the pause of ${name} did not survive a change`);
  }
}

interface Change {
  readonly was: ScheduleRow;
  readonly now: ScheduleRow;
}

/** A schedule goes back only if its last slot is in the future, and not to a slot that is over. */
function checkSetBack({ nowMs }: Step, { was, now }: Change, report: Report): void {
  if ((was.last_slot ?? 0) <= nowMs) report("I12", `${was.name} has gone back`);
  if ((now.next_slot ?? Infinity) <= nowMs) report("I12", `${was.name} goes back to a past slot`);
}

function checkTick(step: Step, { was, now }: Change, report: Report, count: Count): void {
  const { before, after, nowMs } = step;
  const { name } = was;
  if (was.paused_at !== null) report("I12", `${name} was ticked during its pause`);
  const period = periodMsOf(was.cron);
  const due = slotsOf(period, was.next_slot ?? Infinity, nowMs);
  if (due.length === 0) report("I12", `${name} was ticked before its slot`);
  const late = due.filter((slot) => slot <= nowMs - GRACE_MS);
  const dropped = late.slice(0, Math.max(0, late.length - was.missed_max));
  // The others were made by a process whose clock was ahead.
  const kept = due.slice(dropped.length).filter((slot) => !isMade(before, name, slot));
  if (late.length > 0) count("slots of a schedule missed");
  if (late.length > dropped.length) count("missed slots made up for");
  const fresh = [...after.ticks.values()].filter((tick) => {
    const isOther = tick.schedule !== name || tick.outcome === RUN_NOW;
    const known = before.ticks.get(`${name} ${tick.slot}`);
    return !isOther && (known === undefined || known.outcome !== tick.outcome);
  });
  const wanted = new Map(outcomesOf(before, was, kept));
  const last = dropped.at(-1);
  if (last !== undefined) wanted.set(last, MISSED);
  for (const tick of fresh) {
    if (wanted.get(tick.slot) !== tick.outcome) {
      report("I12", `slot ${tick.slot} of ${name} should not have come to ${tick.outcome}`);
    }
    wanted.delete(tick.slot);
    const isWhole = tick.outcome !== MISSED || tick.since === dropped[0];
    if (!isWhole) report("I12", `${name} tells other missed slots than there were`);
    checkMade(after, tick, report);
  }
  for (const slot of wanted.keys()) report("I12", `slot ${slot} of ${name} came to nothing`);
  const next = Math.floor(nowMs / period) * period + period;
  if (now.next_slot !== next) report("I12", `${name} goes on at ${now.next_slot}, not ${next}`);
  checkReplaced(step, was, kept, report, count);
}

function isMade({ ticks }: Snapshot, name: string, slot: number): boolean {
  return (ticks.get(`${name} ${slot}`)?.outcome ?? MISSED) !== MISSED;
}

function slotsOf(period: number, from: number, to: number): readonly number[] {
  const slots: number[] = [];
  for (let slot = Math.ceil(from / period) * period; slot <= to; slot += period) slots.push(slot);
  return slots;
}

/** What comes of the slots that are not missed. */
function outcomesOf(
  before: Snapshot,
  was: ScheduleRow,
  kept: readonly number[],
): readonly (readonly [slot: number, outcome: number | undefined])[] {
  return kept.map((slot, index) => {
    if (was.overlap === QUEUE) return [slot, MADE];
    const isFirst = index === 0 && !isOpen(before, was.last_job);
    if (was.overlap === SKIP) return [slot, isFirst ? MADE : SKIPPED];
    return [slot, index === kept.length - 1 ? MADE : REPLACED];
  });
}

function isOpen(snapshot: Snapshot, id: string | null): boolean {
  const key = snapshot.keys.get(id ?? "");
  return key !== undefined && finalState(snapshot, key) === null;
}

function checkMade(after: Snapshot, { schedule, slot, job, outcome }: TickRow, report: Report) {
  const row = after.jobs.get(after.keys.get(job ?? "") ?? 0);
  const isRight = outcome === MADE ? row?.run_at === slot : job === null;
  if (!isRight) report("I12", `slot ${slot} of ${schedule} has another job than its own`);
}

/** The job before is over, or is asked to end. */
function checkReplaced(
  { before, after }: Step,
  { name, overlap, last_job }: ScheduleRow,
  kept: readonly number[],
  report: Report,
  count: Count,
): void {
  if (kept.length === 0 || !isOpen(before, last_job)) return;
  if (overlap === SKIP) count("slot skipped for an open job");
  const key = after.keys.get(last_job ?? "") ?? 0;
  if (overlap !== REPLACE) {
    const isAsked = after.asked.has(key) && !before.asked.has(key);
    if (isAsked) report("I12", `${name} does not replace, and cancels job ${key}`);
    return;
  }
  count("job of a slot replaced");
  const isEnding = finalState(after, key) !== null || after.asked.has(key);
  if (!isEnding) report("I12", `${name} has not replaced job ${key}`);
}
