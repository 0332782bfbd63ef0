/** What a dead letter keeps of its runs and of its review. */
import type { JsonChange } from "../../core/failures/json-difference.ts";
import type { Fault, OutcomeName } from "../../core/outcome.ts";

/** A failed run in the copy that a dead letter keeps. */
export interface FailedRunRecord {
  readonly n: number;
  readonly outcome: OutcomeName;
  readonly finishedAt: number;
  /** The error without its stack, and with the first 300 characters of its message. */
  readonly fault: Fault;
}

export interface ReviewEntry {
  readonly at: number;
  readonly by: string;
  readonly act: "acknowledged" | "discarded" | "reprocessed" | "assigned" | "noted";
  readonly notes: string | null;
  /** To whom the letter was assigned. */
  readonly to?: string | null;
  /** What the payload of the successor has changed. */
  readonly changes?: readonly JsonChange[];
}

/** An entry of a review that decides nothing. */
export type Annotation =
  | { readonly act: "noted"; readonly by: string; readonly notes: string }
  | {
      readonly act: "assigned";
      readonly by: string;
      /** Null: the letter is taken from the person who had it. */
      readonly to: string | null;
      readonly notes: string | null;
    };
