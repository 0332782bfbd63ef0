/** tickSchedule and runSchedule: schedules make jobs. */
import { idBytes } from "../../../core/ids.ts";
import { isFinal, type JobId } from "../../../core/job.ts";
import { stateCodec, tickCodec } from "../../shared/codes.ts";
import {
  instantsBesideSlots,
  isAhead,
  isDue,
  lastOf,
  refusedByRule,
  replacedBy,
  tickRecords,
  tickWork,
  type TickWork,
} from "../../shared/control/schedules.ts";
import { TICKS_KEPT } from "../../roles/schedules.ts";
import { scheduleChanged } from "../../shared/audit/drafts.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import type { EnqueueAnswer, NewJob } from "../../types/jobs-and-runs.ts";
import type {
  DecideTicks,
  RunScheduleAnswer,
  ScheduleRecord,
  TickDecision,
  TickRecord,
} from "../../types/schedules.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";
import { cancelWithin } from "../jobs/cancel.ts";
import { enqueueScheduled } from "../jobs/enqueue.ts";
import { schedule } from "./schedules.ts";

export function tickSchedule(
  session: Session,
  name: string,
  decide: DecideTicks,
): readonly TickRecord[] {
  const now = session.clock.now();
  const stored = schedule(session, name);
  if (stored === null) return [];
  if (!isDue(stored, now)) {
    if (isAhead(stored, now)) setBack(session, stored, decide);
    return [];
  }
  const decision = decide(stored, now, madeAfter(session, name, stored.nextSlot - 1));
  const slots = decision.ticks.map(({ slot }) => slot);
  const fresh = new Set(withoutTick(session, name, slots));
  const ticks = decision.ticks.filter(({ slot }) => fresh.has(slot));
  const work = tickWork(stored.overlap, ticks, ticks.length > 0 && isOpen(session, stored.lastJob));
  const isRefused = decision.isRefused === true;
  const answers = isRefused ? refusedByRule(work) : makeJobs(session, stored, work);
  const records = tickRecords(work, answers, decision, now);
  for (const record of records) insertTick(session, name, record);
  advance(session, stored, decision, records);
  return records;
}

/** The clock was ahead and went back: the next slot is decided anew, without the made slots. */
function setBack(session: Session, stored: ScheduleRecord, decide: DecideTicks): void {
  const { sql, clock } = session;
  const [{ name }, now] = [stored, clock.now()];
  const { nextSlot: next_slot } = decide(stored, now, madeAfter(session, name, now));
  sql.run("set_schedule_back", { name, next_slot, now });
}

function madeAfter({ sql }: Session, name: string, after: number): readonly number[] {
  return sql.all("find_made_ticks", { name, after, limit: TICKS_KEPT }).map(({ slot }) => slot);
}

/** The slots that have no tick yet. */
function withoutTick({ sql }: Session, name: string, slots: readonly number[]): readonly number[] {
  const rows = sql.all("find_ticks", { name, slots: JSON.stringify(slots) });
  const known = new Set(rows.map(({ slot }) => slot));
  return slots.filter((slot) => !known.has(slot));
}

function isOpen({ sql }: Session, job: JobId | null): boolean {
  const row = job === null ? undefined : sql.get("job_by_id", { id: idBytes(job) });
  return row !== undefined && !isFinal(stateCodec.word(row.state));
}

function makeJobs(
  session: Session,
  stored: ScheduleRecord,
  { make, cancelsLast }: TickWork,
): readonly EnqueueAnswer[] {
  const jobs = make.map(({ job }) => job);
  // A refused slot does not replace the last job.
  return enqueueScheduled(session, jobs, () => {
    const [first] = jobs;
    if (cancelsLast && stored.lastJob !== null && first !== undefined) {
      cancelWithin(session, stored.lastJob, { by: null, reason: replacedBy(stored, first) });
    }
  });
}

function insertTick({ sql }: Session, name: string, record: TickRecord): void {
  const { slot, since, at } = record;
  const job = record.job === null ? null : idBytes(record.job);
  const outcome = tickCodec.code[record.outcome];
  sql.run("insert_tick", { name, slot, since, job, outcome, now: at });
}

function advance(
  session: Session,
  stored: ScheduleRecord,
  { nextSlot: next_slot }: TickDecision,
  records: readonly TickRecord[],
): void {
  const { name } = stored;
  const { slot: last_slot, job } = lastOf(stored, records);
  const last_job = job === null ? null : idBytes(job);
  session.sql.run("advance_schedule", { name, next_slot, last_slot, last_job });
  pruneTicks(session, name);
}

function pruneTicks({ sql, clock }: Session, name: string): void {
  sql.run("prune_ticks", { name, kept: TICKS_KEPT, now: clock.now() });
}

export function runSchedule(
  session: Session,
  name: string,
  make: (schedule: ScheduleRecord) => NewJob,
  act: Act = NO_ACT,
): RunScheduleAnswer {
  const stored = schedule(session, name);
  if (stored === null) return { status: "unknown" };
  const job = make(stored);
  const [answer] = enqueueScheduled(session, [job], () => {});
  if (answer === undefined) throw new Error("the store gave no answer");
  if (answer.status !== "created") return answer;
  const at = session.clock.now();
  const record = { since: null, outcome: "run_now", job: answer.id, at } as const;
  const free = withoutTick(session, name, instantsBesideSlots(at))[0];
  if (free !== undefined) insertTick(session, name, { ...record, slot: free });
  pruneTicks(session, name);
  const after = { job: answer.id };
  writeAudits(session, [scheduleChanged("schedule_run", stored, act, { after })]);
  return answer;
}
