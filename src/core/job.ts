/**
 * The job and its states. The diagram in ARCHITECTURE.md is drawn from {@link TRANSITIONS};
 * a test compares the two.
 *
 * The nouns of the house, spelled alike in SQL, TypeScript, HTTP, CLI and docs:
 *
 * - **job**: one durable unit of work, with a type and a payload that never change.
 * - **state**: where a job stands. *Retrying* and *paused* are views of it, not states.
 * - **attempt**: one start of one job. What ends it decides whether it is charged.
 * - **outcome**, **settlement**: how a run ended, and what therefore happens to the job next.
 * - **lease**: proof of a claim. Its number is the **fence**, which grows with every claim.
 * - **phase**: a named step of a job with a stored result. **unit**: one item of work inside a
 *   phase.
 * - **lane**: slots of a worker. Those of `general` take any job, all others only their own.
 * - **error class**: how a failure counts; each class has its own backoff.
 * - **dead letter**: the review record of a failed job, with its own copy of what was asked.
 * - **gate**: what holds jobs back: a limit, a pause, an open breaker.
 * - **breaker**: the stored circuit breaker of an external service, shared by all workers.
 * - **schedule**: a stored cron entry that makes exactly one job per tick.
 * - **supervisor**: decides about business retries from recorded facts; the queue only delivers.
 * - **channel**: a task type that talks to a provider, with before, success and error handlers.
 * - **tenant**: the unit of isolation; keys are unique within it.
 */

/** Public id: 26 Crockford Base32 letters, a UUIDv7 in its canonical upper-case form. */
export type JobId = string;

/** Text that is known to be JSON and to obey the payload rule of `core/payload.ts`. */
export type JsonText = string;

/** Where a job stands. The last four are final and never change. */
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

/** How often an error deserves another try; each class has its own backoff. */
export type ErrorClass = "transient" | "retryable" | "non_retryable" | "rate_limited";

/** All states, in the order in which a job meets them. */
export const STATES: readonly State[] = [
  "scheduled",
  "queued",
  "running",
  "completed",
  "completed_with_errors",
  "failed",
  "cancelled",
];

/** Where each verb of the store may take a job. `null` stands for "does not exist yet". */
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

/** True for the four states that never change. */
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

/** True when some verb may take a job from `from` to `to`. */
export function mayMove(from: State | null, to: State): boolean {
  return TRANSITIONS.some((transition) => transition.from === from && transition.to === to);
}

/** The named priorities. Lower runs first. */
export const PRIORITIES = { critical: 0, high: 50, normal: 100, low: 200 } as const;
