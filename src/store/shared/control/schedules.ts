/** What both stores need for schedules: columns, decoding, and the decision about overlaps. */
import { MillraceError } from "../../../core/errors.ts";
import type { JobId } from "../../../core/job.ts";
import {
  DECLARED_MAX,
  DECLARED_MS,
  SCHEDULES_MAX,
  TENANT_SCHEDULES_MAX,
  TICKS_KEPT,
} from "../../roles/schedules.ts";
import type { EnqueueAnswer, RefusedJob, NewJob } from "../../types/jobs-and-runs.ts";
import type {
  FirstSlot,
  JobTemplate,
  ScheduleChange,
  ScheduleRecord,
  ScheduleSpec,
  TickDecision,
  TickOutcome,
  TickRecord,
} from "../../types/schedules.ts";
import { ownerCodec, overlapCodec, tickCodec } from "../codes.ts";

/** How many jobs may be made by hand at the same time and be listed: as many as are kept. */
const RUNS_AT_ONCE = TICKS_KEPT;

/** The columns that a schedule itself decides. */
interface ScheduleColumns {
  readonly name: string;
  readonly owner: number;
  readonly tenant: string;
  readonly cron: string;
  readonly time_zone: string;
  readonly missed_max: number;
  readonly overlap: number;
  readonly jitter_ms: number;
  readonly starts_at: number | null;
  readonly ends_at: number | null;
  readonly job: string;
}

export function scheduleColumns(
  schedule: ScheduleSpec,
  owner: ScheduleRecord["owner"],
): ScheduleColumns {
  return {
    name: schedule.name,
    owner: ownerCodec.code[owner],
    tenant: schedule.job.tenant,
    cron: schedule.cron,
    time_zone: schedule.timeZone,
    missed_max: schedule.missedMax,
    overlap: overlapCodec.code[schedule.overlap],
    jitter_ms: Math.round(schedule.jitterMs),
    starts_at: schedule.startsAt,
    ends_at: schedule.endsAt,
    job: JSON.stringify(schedule.job),
  };
}

interface StoredSchedule extends ScheduleColumns {
  readonly next_slot: number | null;
  readonly last_slot: number | null;
  readonly last_job: JobId | null;
  readonly paused_at: number | null;
  readonly paused_by: string | null;
  readonly pause_reason: string | null;
  readonly declared_at: number | null;
  readonly created_by: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly revision: number;
}

export function scheduleRecord(row: StoredSchedule): ScheduleRecord {
  const job: JobTemplate = JSON.parse(row.job);
  return {
    name: row.name,
    owner: ownerCodec.word(row.owner),
    cron: row.cron,
    timeZone: row.time_zone,
    missedMax: row.missed_max,
    overlap: overlapCodec.word(row.overlap),
    jitterMs: row.jitter_ms,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    job,
    nextSlot: row.next_slot,
    lastSlot: row.last_slot,
    lastJob: row.last_job,
    pausedAt: row.paused_at,
    pausedBy: row.paused_by,
    pauseReason: row.pause_reason,
    declaredAt: row.declared_at,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    revision: row.revision,
  };
}

interface StoredTick {
  readonly slot: number;
  readonly since: number | null;
  readonly job: JobId | null;
  readonly outcome: number;
  readonly at: number;
}

export function tickRecord({ outcome, ...row }: StoredTick): TickRecord {
  return { ...row, outcome: tickCodec.word(outcome) };
}

/** Throws OPTION_INVALID for more schedules than a worker may have. */
export function requireDeclared({ length }: readonly unknown[]): void {
  if (length <= DECLARED_MAX) return;
  const limit = `a worker can have at most ${DECLARED_MAX} schedules`;
  throw new MillraceError("OPTION_INVALID", `${limit}, not ${length}`);
}

/** Why an operator may make no more schedules; null: there is room for one. */
export function refusedByCount(
  stored: { readonly total: number; readonly of_tenant: number },
  { ofTenant }: ScheduleChange,
): "too_many" | "too_many_of_tenant" | null {
  if (ofTenant === true && stored.of_tenant >= TENANT_SCHEDULES_MAX) return "too_many_of_tenant";
  return stored.total >= SCHEDULES_MAX ? "too_many" : null;
}

/** Whether a declared schedule differs from the stored one, or is one of an operator. */
export function differs(stored: ScheduleRecord, declared: ScheduleSpec): boolean {
  const [old, now] = [scheduleColumns(stored, stored.owner), scheduleColumns(declared, "code")];
  return JSON.stringify(old) !== JSON.stringify(now);
}

/**
 * Whether an operator has made the stored schedule for another tenant. Nothing of it may carry over
 * to the schedule of code, such as a pause.
 */
export function isOfAnotherTenant(stored: ScheduleRecord, declared: ScheduleSpec): boolean {
  return stored.owner === "operator" && stored.job.tenant !== declared.job.tenant;
}

/** The next slot of a changed schedule: the same one while the times are the same. */
export function slotAfterChange(
  stored: ScheduleRecord,
  changed: ScheduleSpec,
  now: number,
  firstSlot: FirstSlot,
): number | null {
  const isSame =
    stored.cron === changed.cron &&
    stored.timeZone === changed.timeZone &&
    stored.startsAt === changed.startsAt &&
    stored.endsAt === changed.endsAt;
  return isSame ? stored.nextSlot : slotAfter(stored, changed, now, firstSlot);
}

/** The first slot from now on that is also after the last slot. */
export function slotAfter(
  stored: ScheduleRecord,
  schedule: ScheduleSpec,
  now: number,
  firstSlot: FirstSlot,
): number | null {
  return firstSlot(schedule, Math.max(now, stored.lastSlot ?? 0));
}

/** Whether code owns a schedule, and a living worker has declared it. */
export function isDeclared({ owner, declaredAt }: ScheduleRecord, now: number): boolean {
  return owner === "code" && (declaredAt ?? 0) > now - DECLARED_MS;
}

export function isDue(
  schedule: ScheduleRecord,
  now: number,
): schedule is ScheduleRecord & { readonly nextSlot: number } {
  const { pausedAt, nextSlot } = schedule;
  return pausedAt === null && nextSlot !== null && nextSlot <= now;
}

/**
 * Whether a schedule was ticked or changed in the future, so that its next slot may be too late.
 * The clock was ahead and went back.
 */
export function isAhead({ pausedAt, lastSlot, updatedAt }: ScheduleRecord, now: number): boolean {
  return pausedAt === null && Math.max(lastSlot ?? 0, updatedAt) > now;
}

type Tick = TickDecision["ticks"][number];

export interface TickWork {
  readonly make: readonly Tick[];
  readonly others: readonly { readonly slot: number; readonly outcome: TickOutcome }[];
  /** The job of the slot before is cancelled. */
  readonly cancelsLast: boolean;
}

/** Applies the overlap policy. `isLastOpen`: the job of the slot before is not final. */
export function tickWork(
  overlap: ScheduleSpec["overlap"],
  ticks: readonly Tick[],
  isLastOpen: boolean,
): TickWork {
  const others = (from: number, to: number, outcome: TickOutcome): TickWork["others"] =>
    ticks.slice(from, to).map(({ slot }) => ({ slot, outcome }));
  const last = ticks.length - 1;
  switch (overlap) {
    case "queue":
      return { make: ticks, others: [], cancelsLast: false };
    case "skip": {
      // The job of the first slot is open when the next one is due at the same time.
      const made = isLastOpen ? 0 : 1;
      const skipped = others(made, ticks.length, "skipped");
      return { make: ticks.slice(0, made), others: skipped, cancelsLast: false };
    }
    case "replace": {
      const cancelsLast = isLastOpen && ticks.length > 0;
      const replaced = others(0, Math.max(0, last), "replaced");
      return { make: ticks.slice(-1), others: replaced, cancelsLast };
    }
  }
}

/** The other refusals are faults of the job. */
const REFUSED: Readonly<Partial<Record<RefusedJob["code"], TickOutcome>>> = {
  INTAKE_CLOSED: "intake_closed",
  QUOTA_EXCEEDED: "over_quota",
  PAYLOAD_OVER_QUOTA: "over_quota",
};

/** What came of the job of a slot. */
function madeTick(answer: EnqueueAnswer): { outcome: TickOutcome; job: JobId | null } {
  if (answer.status === "refused") {
    return { outcome: REFUSED[answer.code] ?? "refused", job: null };
  }
  return { outcome: answer.status === "created" ? "made" : "duplicate", job: answer.id };
}

/** What came of all slots of a tick, oldest first. One answer for each job that was made. */
/** The answers when a payload rule refuses the jobs. */
export function refusedByRule({ make }: TickWork): readonly EnqueueAnswer[] {
  return make.map(({ job }) => ({ status: "refused", code: "STORE_REFUSED", holder: job.id }));
}

export function tickRecords(
  { make, others }: TickWork,
  answers: readonly EnqueueAnswer[],
  { missed }: TickDecision,
  at: number,
): readonly TickRecord[] {
  const made = make.map(({ slot }, index) => ({ slot, ...madeTick(answers[index]!) }));
  const rest = others.map((other) => ({ ...other, job: null }));
  const due = [...made, ...rest]
    .map((tick) => ({ ...tick, since: null, at }))
    .toSorted((one, other) => one.slot - other.slot);
  if (missed === null) return due;
  return [{ slot: missed.last, since: missed.first, outcome: "missed", job: null, at }, ...due];
}

/** The last slot and the last job after a tick. A job of null leaves the stored one. */
export function lastOf(
  { lastSlot, nextSlot }: ScheduleRecord,
  records: readonly TickRecord[],
): { readonly slot: number; readonly job: JobId | null } {
  return {
    slot: Math.max(lastSlot ?? 0, nextSlot ?? 0, ...records.map(({ slot }) => slot)),
    job: records.findLast(({ job }) => job !== null)?.job ?? null,
  };
}

/** The instants under which a job outside the slots may be listed, the first free one wins. */
export function instantsBesideSlots(now: number): readonly number[] {
  // Never a whole second, which may be a slot.
  const instants = Array.from({ length: RUNS_AT_ONCE + 1 }, (_, more) => now + more);
  return instants.filter((instant) => instant % 1_000 !== 0).slice(0, RUNS_AT_ONCE);
}

/** Why the job of a slot was cancelled. */
export function replacedBy({ name }: ScheduleSpec, { id }: NewJob): string {
  return `replaced by ${id} of the schedule ${name}`;
}
