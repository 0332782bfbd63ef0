/** Schedules: when which job is enqueued, and what came of the slots. */
import type { SlotRules } from "../../core/cron/plan.ts";
import type { JobId } from "../../core/job.ts";
import type { EnqueueAnswer, NewJob } from "./jobs-and-runs.ts";

/** The job of every tick. Only its id and its due time differ. */
export type JobTemplate = Omit<NewJob, "id" | "due">;

export interface ScheduleSpec extends SlotRules {
  readonly name: string;
  /** What a slot does while the job of the slot before is not final. */
  readonly overlap: "queue" | "skip" | "replace";
  /** The maximum by which the job of a slot is due later than the slot. */
  readonly jitterMs: number;
  readonly job: JobTemplate;
}

export interface ScheduleRecord extends ScheduleSpec {
  /** Code declares it, or an operator has made it. */
  readonly owner: "code" | "operator";
  /** Null: there is no slot left. */
  readonly nextSlot: number | null;
  /** The last slot that was due, with any outcome. */
  readonly lastSlot: number | null;
  /** The job of the last slot that made one. */
  readonly lastJob: JobId | null;
  readonly pausedAt: number | null;
  readonly pausedBy: string | null;
  readonly pauseReason: string | null;
  /** When a living worker last declared it; null: an operator has made it. */
  readonly declaredAt: number | null;
  readonly createdBy: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Grows with every change of the schedule itself. */
  readonly revision: number;
}

/**
 * `made`: the slot made a job. `skipped`: the job of the slot before was not final. `replaced`: a
 * later slot was due at the same time and replaced this one. `missed`: the slot was late, and is
 * not made up for. `duplicate`: another job holds the dedup key. `refused`: the database or a
 * payload rule refused the job. `intake_closed`: the intake of the job was closed, and the slot is
 * not made up for. `over_quota`: the same for the quota of the tenant. `run_now`: a job outside the
 * slots.
 */
export type TickOutcome =
  | "made"
  | "skipped"
  | "replaced"
  | "missed"
  | "duplicate"
  | "refused"
  | "run_now"
  | "intake_closed"
  | "over_quota";

export interface TickRecord {
  readonly slot: number;
  /** For `missed`: the first of the missed slots, of which `slot` is the last. */
  readonly since: number | null;
  readonly outcome: TickOutcome;
  /** The job; for `duplicate`, the holder of the key. */
  readonly job: JobId | null;
  readonly at: number;
}

/** The first slot of a schedule after an instant; see `core/cron/plan.ts`. */
export type FirstSlot = (schedule: ScheduleSpec, after: number) => number | null;

export interface DueSchedules {
  /** The schedules with a slot that is due. */
  readonly names: readonly string[];
  /** The time until another one is due; null: none is. */
  readonly nextMs: number | null;
}

/**
 * Decides what a schedule does now. `ticked` are the slots from the next slot on, or after now if
 * none is due, that have been made already, because the clock was ahead and went back.
 */
export type DecideTicks = (
  schedule: ScheduleRecord,
  now: number,
  ticked: readonly number[],
) => TickDecision;

/** What a schedule does now. */
export interface TickDecision {
  /** The slots that are due, oldest first, each with its job. */
  readonly ticks: readonly { readonly slot: number; readonly job: NewJob }[];
  /** A payload rule refuses the jobs of all slots: no slot makes one. */
  readonly isRefused?: boolean;
  readonly missed: { readonly first: number; readonly last: number } | null;
  /** The first slot after now. */
  readonly nextSlot: number | null;
}

/** `revision` null: the schedule is new. `ofTenant`: the caller may change one tenant only. */
export interface ScheduleChange {
  readonly revision: number | null;
  readonly by: string | null;
  readonly reason?: string | null;
  readonly ofTenant?: true;
}

/**
 * `outdated`: the schedule has changed since its revision was read. `too_many`: the installation
 * has as many schedules of operators as it may have, or the tenant has.
 */
export type SaveAnswer =
  | "saved"
  | "exists"
  | "unknown"
  | "owned_by_code"
  | "outdated"
  | "too_many"
  | "too_many_of_tenant";

export type RunScheduleAnswer = EnqueueAnswer | { readonly status: "unknown" };
