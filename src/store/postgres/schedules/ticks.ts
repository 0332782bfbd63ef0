/**
 * tickSchedule and runSchedule: schedules make jobs. A tick locks its schedule first, before any
 * other row, so that the ticks of all processes come one after the other.
 */
import { writeAudits } from "../audit/write.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import { scheduleChanged } from "../../shared/audit/drafts.ts";
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
import type { EnqueueAnswer, NewJob } from "../../types/jobs-and-runs.ts";
import type {
  DecideTicks,
  RunScheduleAnswer,
  ScheduleRecord,
  TickDecision,
  TickRecord,
} from "../../types/schedules.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { list, uuidOf } from "../database/values.ts";
import { cancelWithin } from "../jobs/cancel.ts";
import { enqueueWithin } from "../jobs/enqueue.ts";
import { refusedByIntake } from "../jobs/intakes.ts";
import { internJobs } from "../jobs/job-rows.ts";
import { clockOf, lockedSchedule, schedule } from "./schedules.ts";

/** How often a tick begins anew because the job of the schedule has changed. */
const TRIES_MAX = 5;

const UNKNOWN = { status: "unknown" } as const;

export async function tickSchedule(
  session: Session,
  name: string,
  decide: DecideTicks,
): Promise<readonly TickRecord[]> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const known = await schedule(session, name);
    if (known === null) return [];
    // The names of the job are interned outside the transaction.
    const sample: NewJob = { ...known.job, id: "", due: { delayMs: 0 } };
    await internJobs(session.names, [sample]);
    // One token for all slots of a tick: mostly a tick has one slot.
    const pass = await session.state.quotas.admitFresh([sample]);
    const tick = { known, decide, overQuota: pass.refused.get(sample.id) ?? null };
    const records = await repeating(session.dice, () =>
      session.transaction((transaction) => tickWithin(session, transaction, tick)),
    );
    pass.landed(records?.some(({ outcome }) => outcome === "made") === true ? null : []);
    if (records !== null) return records;
  }
  return [];
}

interface Tick {
  readonly known: ScheduleRecord;
  readonly decide: DecideTicks;
  /** The answer to a job of the schedule that the quota of its tenant refuses. */
  readonly overQuota: EnqueueAnswer | null;
}

/** Null: the schedule has changed since it was read. */
async function tickWithin(
  session: Session,
  transaction: StoreTransaction,
  { known: { name, revision }, decide, overQuota }: Tick,
): Promise<readonly TickRecord[] | null> {
  const stored = await lockedSchedule(transaction, name);
  if (stored === null) return [];
  if (stored.revision !== revision) return null;
  const now = await clockOf(transaction);
  if (!isDue(stored, now)) {
    if (isAhead(stored, now)) await setBack(transaction, stored, decide);
    return [];
  }
  const made = await madeAfter(transaction, name, stored.nextSlot - 1);
  const decision = decide(stored, now, made);
  const slots = decision.ticks.map(({ slot }) => slot);
  const fresh = new Set(await withoutTick(transaction, name, slots));
  const ticks = decision.ticks.filter(({ slot }) => fresh.has(slot));
  const isLastOpen = ticks.length > 0 && (await isOpen(transaction, stored.lastJob));
  const work = tickWork(stored.overlap, ticks, isLastOpen);
  const isRefused = decision.isRefused === true;
  const answers = isRefused
    ? refusedByRule(work)
    : await makeJobs(session, transaction, { stored, work, overQuota });
  const records = tickRecords(work, answers, decision, now);
  for (const record of records) await insertTick(transaction, name, record);
  await advance(transaction, stored, decision, records);
  return records;
}

/** The clock was ahead and went back: the next slot is decided anew, without the made slots. */
async function setBack(
  transaction: StoreTransaction,
  stored: ScheduleRecord,
  decide: DecideTicks,
): Promise<void> {
  const { name } = stored;
  const now = await clockOf(transaction);
  const { nextSlot: next_slot } = decide(stored, now, await madeAfter(transaction, name, now));
  await transaction.run("set_schedule_back", { name, next_slot });
}

async function madeAfter(
  transaction: StoreTransaction,
  name: string,
  after: number,
): Promise<readonly number[]> {
  const rows = await transaction.all("find_made_ticks", { name, after, limit: TICKS_KEPT });
  return rows.map(({ slot }) => slot);
}

/** The slots that have no tick yet. */
async function withoutTick(
  transaction: StoreTransaction,
  name: string,
  slots: readonly number[],
): Promise<readonly number[]> {
  const rows = await transaction.all("find_ticks", { name, slots: list(slots) });
  const known = new Set(rows.map(({ slot }) => slot));
  return slots.filter((slot) => !known.has(slot));
}

async function isOpen(transaction: StoreTransaction, job: JobId | null): Promise<boolean> {
  if (job === null) return false;
  const row = await transaction.get("state_of", { id: uuidOf(job) });
  return row !== undefined && !isFinal(stateCodec.word(row.state));
}

async function makeJobs(
  session: Session,
  transaction: StoreTransaction,
  {
    stored,
    work,
    overQuota,
  }: { readonly stored: ScheduleRecord; readonly work: TickWork } & Pick<Tick, "overQuota">,
): Promise<readonly EnqueueAnswer[]> {
  const { make, cancelsLast } = work;
  const jobs = make.map(({ job }) => job);
  const [first] = jobs;
  if (first === undefined) return [];
  const interned = await internJobs(session.names, jobs);
  // Before the last job is replaced. All slots of a schedule have the same names.
  const refused = (await refusedByIntake(transaction, interned[0])) ?? overQuota;
  if (refused !== null) return jobs.map(() => refused);
  if (cancelsLast && stored.lastJob !== null) {
    const reason = replacedBy(stored, first);
    await cancelWithin(transaction, stored.lastJob, { by: null, reason });
  }
  return enqueueWithin(transaction, interned, jobs);
}

async function insertTick(
  transaction: StoreTransaction,
  name: string,
  { slot, since, job, outcome }: TickRecord,
): Promise<void> {
  await transaction.run("insert_tick", {
    name,
    slot,
    since,
    job: job === null ? null : uuidOf(job),
    outcome: tickCodec.code[outcome],
  });
}

async function advance(
  transaction: StoreTransaction,
  stored: ScheduleRecord,
  { nextSlot: next_slot }: TickDecision,
  records: readonly TickRecord[],
): Promise<void> {
  const { name } = stored;
  const { slot: last_slot, job } = lastOf(stored, records);
  const last_job = job === null ? null : uuidOf(job);
  await transaction.run("advance_schedule", { name, next_slot, last_slot, last_job });
  await transaction.run("prune_ticks", { name, kept: TICKS_KEPT });
}

export async function runSchedule(
  session: Session,
  name: string,
  make: (schedule: ScheduleRecord) => NewJob,
  act: Act = NO_ACT,
): Promise<RunScheduleAnswer> {
  const stored = await schedule(session, name);
  if (stored === null) return UNKNOWN;
  const job = make(stored);
  const interned = await internJobs(session.names, [job]);
  const pass = await session.state.quotas.admitFresh([job]);
  const overQuota = pass.refused.get(job.id) ?? null;
  const ran = await repeating(session.dice, async (isRepeat): Promise<RunScheduleAnswer> => {
    const answer = await session.transaction(async (transaction) => {
      // A schedule that is removed meanwhile must not keep the tick of this job.
      if ((await lockedSchedule(transaction, name)) === null) return UNKNOWN;
      // A repeat may follow a try that has made the job before the intake was closed.
      const closed = isRepeat ? null : await refusedByIntake(transaction, interned[0]);
      const refused = closed ?? (isRepeat ? null : overQuota);
      const [made] =
        refused === null ? await enqueueWithin(transaction, interned, [job]) : [refused];
      if (made === undefined) throw new Error("the store gave no answer");
      if (made.status === "created") {
        await noteRun(transaction, name, made.id);
        const after = { job: made.id };
        await writeAudits(transaction, [scheduleChanged("schedule_run", stored, act, { after })]);
      }
      return made;
    });
    // After a lost answer, a job with this id was created by the first try.
    const isOwn = isRepeat && answer.status === "existing" && answer.id === job.id;
    return isOwn ? { status: "created", id: job.id, state: "queued" } : answer;
  });
  pass.landed(ran.status === "created" ? null : []);
  return ran;
}

async function noteRun(transaction: StoreTransaction, name: string, job: JobId): Promise<void> {
  const at = await clockOf(transaction);
  const record = { since: null, outcome: "run_now", job, at } as const;
  const [free] = await withoutTick(transaction, name, instantsBesideSlots(at));
  if (free !== undefined) await insertTick(transaction, name, { ...record, slot: free });
  await transaction.run("prune_ticks", { name, kept: TICKS_KEPT });
}
