/** Groups of failures: the open dead letters of one cause. */
import type { GroupDecision } from "../../core/failures/group-status.ts";
import type { JobId } from "../../core/job.ts";
import type { DeadLetterRecord } from "./records.ts";

/** The maximum number of causes that one call reads, and of letters that it counts per cause. */
export const CAUSES_MAX = 1_000;
export const GROUP_COUNT_MAX = 10_000;
/** The maximum number of letters that one transaction reprocesses or discards. */
export const LETTER_CHUNK_MAX = 500;

/** Whose failures: those of all tenants, or of one. Decisions are made for one of both. */
export interface FailureScope {
  readonly tenant?: string;
}

export interface FailureGroupRecord {
  readonly cause: string;
  /** The open letters, up to {@link GROUP_COUNT_MAX}. */
  readonly count: number;
  readonly isExact: boolean;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The types of the counted letters. */
  readonly types: readonly string[];
  /** The letters of the last 24 hours, oldest hour first. */
  readonly hours: readonly number[];
  /** The newest letter. */
  readonly sample: DeadLetterRecord;
  readonly decision:
    | (GroupDecision & { readonly by: string; readonly notes: string | null })
    | null;
}

/** What was decided about one cause. */
export type FailureDecisionRecord = NonNullable<FailureGroupRecord["decision"]> & {
  readonly cause: string;
};

/** `forMs` is the length of a snooze. */
export type NewGroupDecision =
  | {
      readonly kind: "acknowledged" | "retried" | "discarded";
      readonly by: string;
      readonly notes: string | null;
    }
  | {
      readonly kind: "snoozed";
      readonly by: string;
      readonly notes: string | null;
      readonly forMs: number;
    };

/** What became of one letter when a chunk was reprocessed. */
export interface ReprocessOutcome {
  readonly id: JobId;
  /**
   * `existing`: the letter was reprocessed before, or the failed job has a successor. `held`:
   * another job holds the dedup key. `closed`: the letter was discarded or does not exist.
   */
  readonly status: "created" | "existing" | "held" | "refused" | "closed";
  /** The successor, or the holder of the dedup key. */
  readonly job: JobId | null;
}
