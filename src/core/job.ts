/**
 * The job and its states. The diagram in ARCHITECTURE.md is drawn from {@link TRANSITIONS};
 * a test compares the two.
 *
 * The glossary. SQL, TypeScript, HTTP, CLI and docs use the same words:
 *
 * - **job**: one durable unit of work, with a type and a payload that never change.
 * - **state**: one of seven, derived from the place and the ledger of a job. *Retrying* and
 *   *paused* are views, not states.
 * - **place**: the table in which a job waits: scheduled, ready or blocked.
 * - **run**: one start of a job by a worker. An **attempt** is a run that is charged.
 * - **ledger**: the attempt records of a job, one row per run that ended.
 * - **outcome**, **settlement**: how a run ended, and what happens to the job next.
 * - **lease**: the proof of a claim. Its number is the **fence**, which grows with every claim.
 * - **phase**: a named step of a job with a stored result. **unit**: one item of work in a phase.
 * - **note**: a record that a run stores before its end: progress, a phase, a unit or a log line.
 * - **lane**: slots of a worker. The slots of `general` take any job, all others only their own.
 * - **lock**: an exclusive name that one run holds until the run ends.
 * - **dependency**: a job in `after` that must be final before another job starts.
 * - **gate**: a closed lane, type or tenant, which holds its jobs back.
 * - **error class**: how a failure counts; each class has its own backoff.
 * - **dead letter**: the review record of a failed job, with its own copy of the job's spec.
 * - **schedule**: a cron entry that makes exactly one job per tick.
 * - **tenant**: the unit of isolation; keys are unique within a tenant.
 */

/** The public id of a job: a UUIDv7 as 26 upper-case letters of Crockford's Base32. */
export type JobId = string;

/** JSON text that `core/payload.ts` has checked. */
export type JsonText = string;

/** The state of a job. The last four states are final and never change. */
export type State =
  | "scheduled"
  | "queued"
  | "running"
  | "completed"
  | "completed_with_errors"
  | "failed"
  | "cancelled";

/** A state that a job never leaves. */
export type FinalState = "completed" | "completed_with_errors" | "failed" | "cancelled";

/** How a failure counts. Each class has its own backoff; `non_retryable` fails the job at once. */
export type ErrorClass = "transient" | "retryable" | "non_retryable" | "rate_limited";

/** All states, in the order of a job's life. */
export const STATES: readonly State[] = [
  "scheduled",
  "queued",
  "running",
  "completed",
  "completed_with_errors",
  "failed",
  "cancelled",
];

/** The state changes that each verb of the store makes. `null` means that no job exists yet. */
export const TRANSITIONS: readonly {
  readonly from: State | null;
  readonly to: State;
  readonly verb: string;
}[] = [
  { from: null, to: "scheduled", verb: "enqueue" },
  { from: null, to: "queued", verb: "enqueue" },
  { from: "scheduled", to: "queued", verb: "promote" },
  { from: "scheduled", to: "queued", verb: "hurry" },
  { from: "scheduled", to: "queued", verb: "intervene" },
  { from: "scheduled", to: "failed", verb: "intervene" },
  { from: "scheduled", to: "cancelled", verb: "cancel" },
  { from: "queued", to: "scheduled", verb: "postpone" },
  { from: "queued", to: "scheduled", verb: "intervene" },
  { from: "queued", to: "failed", verb: "intervene" },
  { from: "queued", to: "running", verb: "claim" },
  { from: "queued", to: "cancelled", verb: "cancel" },
  { from: "running", to: "queued", verb: "returnPrefetched" },
  { from: "running", to: "scheduled", verb: "settle" },
  { from: "running", to: "queued", verb: "settle" },
  { from: "running", to: "completed", verb: "settle" },
  { from: "running", to: "completed_with_errors", verb: "settle" },
  { from: "running", to: "failed", verb: "settle" },
  { from: "running", to: "cancelled", verb: "settle" },
];

/** True for the four final states. */
export function isFinal(state: State): state is FinalState {
  switch (state) {
    case "completed":
    case "completed_with_errors":
    case "failed":
    case "cancelled":
      return true;
    case "scheduled":
    case "queued":
    case "running":
      return false;
  }
}

/** True when a verb changes the state from `from` to `to`. */
export function mayMove(from: State | null, to: State): boolean {
  return TRANSITIONS.some((transition) => transition.from === from && transition.to === to);
}

/** The named priorities. A job with a lower number runs first. */
export const PRIORITIES = { critical: 0, high: 50, normal: 100, low: 200 } as const;
