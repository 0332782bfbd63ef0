/**
 * The two halves of the end of a run: an outcome says how it ended, a settlement says what happens
 * next. `settle()` in `core/settle.ts` turns one into the other and is the only place that decides.
 */
import type { ErrorClass, JsonText } from "./job.ts";

/** An error as it is stored: bounded, without live objects. */
export interface Fault {
  readonly class: ErrorClass;
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** The external service that failed, when the error named one. */
  readonly service?: string;
}

/** Every way a run can end. */
export type Outcome =
  | { readonly type: "succeeded"; readonly result: JsonText | null; readonly failedUnits: number }
  | { readonly type: "failed"; readonly fault: Fault; readonly retryAfterMs?: number }
  | { readonly type: "timed_out"; readonly limitMs: number }
  /** `isCertain`: it had begun for certain when its worker died. */
  | { readonly type: "crashed"; readonly isCertain: boolean }
  | { readonly type: "cancelled"; readonly reason: string | null }
  | { readonly type: "interrupted" }
  | { readonly type: "snoozed"; readonly delayMs: number };

/** The name an outcome has in the ledger. */
export type OutcomeName = Outcome["type"];

/** What the decision needs to know of a running job. */
export interface RunFacts {
  /** Attempts charged before this one. */
  readonly tries: number;
  /** Crashes before this run. */
  readonly crashes: number;
  /** Counts the first attempt. */
  readonly maxAttempts: number;
  readonly onOrphan: "retry" | "fail";
  /** `supervisor`: the queue delivers once, business retries are made elsewhere. */
  readonly retryOwner: "queue" | "supervisor";
}

interface Ended {
  readonly outcome: OutcomeName;
  /** Attempts charged so far, this one included if it is charged. */
  readonly tries: number;
  readonly crashes: number;
}

/** The job is completed. Only such a settlement stores a result and enqueues child jobs. */
export type SuccessSettlement = Ended & {
  readonly to: "completed" | "completed_with_errors";
  readonly result: JsonText | null;
  readonly failedUnits: number;
  /**
   * Set when a supervisor owns the retries: the task is delivered and therefore `completed`,
   * and the ledger says that the run itself failed.
   */
  readonly fault: Fault | null;
};

/** What happens to the job next. Waits are lengths, not instants: the store's clock adds them. */
export type Settlement =
  | SuccessSettlement
  | (Ended & { readonly to: "failed"; readonly fault: Fault })
  | (Ended & { readonly to: "cancelled"; readonly reason: string | null })
  | (Ended & {
      /** `scheduled` when `delayMs` is above zero, else `queued`. */
      readonly to: "scheduled" | "queued";
      readonly delayMs: number;
      readonly fault: Fault | null;
    });

export function isSuccess(settlement: Settlement): settlement is SuccessSettlement {
  return settlement.to === "completed" || settlement.to === "completed_with_errors";
}
