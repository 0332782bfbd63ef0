/**
 * An outcome says how a run ended; a settlement says what happens to the job next. `settle()` in
 * `core/settle.ts` turns an outcome into a settlement, and is the only place that decides.
 */
import type { ErrorClass, JsonText } from "./job.ts";

/** A stored error: bounded text, without live objects. */
export interface Fault {
  readonly class: ErrorClass;
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** The external service that failed, if the error names one. */
  readonly service?: string;
  /** Equal for failures of one cause: see `core/failures/fingerprint.ts`. */
  readonly cause?: string;
}

/** Every way a run can end. */
export type Outcome =
  | { readonly type: "succeeded"; readonly result: JsonText | null; readonly failedUnits: number }
  | {
      readonly type: "failed";
      readonly fault: Fault;
      readonly retryAfterMs?: number;
      /** A rate limit holds for the tenant of the job alone. */
      readonly scope?: "tenant";
    }
  | { readonly type: "timed_out"; readonly limitMs: number }
  /** `isAlone`: the process that died had begun no other run. */
  | { readonly type: "crashed"; readonly isAlone: boolean }
  | { readonly type: "cancelled"; readonly reason: string | null }
  | { readonly type: "interrupted" }
  /** `fault`: a closed service has sent the job back, or has failed after it was closed. */
  | { readonly type: "snoozed"; readonly delayMs: number; readonly fault?: Fault };

/** The name of an outcome in the ledger. */
export type OutcomeName = Outcome["type"];

/** The facts of a running job on which the decision depends. */
export interface RunFacts {
  /** The attempts charged before this run. */
  readonly tries: number;
  /** The crashes before this run. */
  readonly crashes: number;
  /** The maximum number of attempts, the first included. */
  readonly maxAttempts: number;
  readonly onOrphan: "retry" | "fail";
  /** `supervisor`: the queue delivers once, and the application makes the retries. */
  readonly retryOwner: "queue" | "supervisor";
}

interface ChargedRun {
  readonly outcome: OutcomeName;
  /** The attempts charged so far, this run included if it is charged. */
  readonly tries: number;
  readonly crashes: number;
}

/** The job is completed. Only such a settlement stores a result and enqueues child jobs. */
export type SuccessSettlement = ChargedRun & {
  readonly to: "completed" | "completed_with_errors";
  readonly result: JsonText | null;
  readonly failedUnits: number;
  /**
   * Set when a supervisor owns the retries: the job is delivered and therefore `completed`, and
   * the ledger says that the run failed.
   */
  readonly fault: Fault | null;
};

/** What happens to the job next. Waits are durations: the store adds them to its own clock. */
export type Settlement =
  | SuccessSettlement
  | (ChargedRun & {
      readonly to: "failed";
      readonly fault: Fault;
      /** The job has killed its process while it ran alone: counts against its type. */
      readonly hasDiedAlone?: true;
    })
  | (ChargedRun & { readonly to: "cancelled"; readonly reason: string | null })
  | (ChargedRun & {
      /** `scheduled` when `delayMs` is above zero, else `queued`. */
      readonly to: "scheduled" | "queued";
      readonly delayMs: number;
      readonly fault: Fault | null;
    });

export function isSuccess(settlement: Settlement): settlement is SuccessSettlement {
  return settlement.to === "completed" || settlement.to === "completed_with_errors";
}
