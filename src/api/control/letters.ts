/** `mill.deadLetters`: the review of failed jobs. */
import type { Instant } from "../../core/duration.ts";
import type { JsonChange } from "../../core/failures/json-difference.ts";
import type { ErrorClass } from "../../core/job.ts";
import type { Fault, OutcomeName } from "../../core/outcome.ts";
import type { Json } from "../../core/payload.ts";
import type { Enqueued } from "../enqueue.ts";
import type { CountedJobs, JobTexts } from "../jobs.ts";

/** The status of a dead letter. */
export type DeadLetterStatus = "pending_review" | "acknowledged" | "reprocessed" | "discarded";

/** Which dead letters to count. */
export interface DeadLetterCountFilter {
  status?: DeadLetterStatus;
  type?: string;
  tenant?: string;
  category?: string;
  correlationId?: string;
  /** The cause of the failure, 16 hexadecimal digits. */
  cause?: string;
  errorClass?: ErrorClass;
  /** The person to whom it is assigned. */
  assignedTo?: string;
  /** The failed job was created at this time or later. */
  createdAfter?: Instant;
  createdBefore?: Instant;
}

export interface DeadLetterFilter extends DeadLetterCountFilter {
  /** The id of the last dead letter of the previous page. */
  after?: string;
  limit?: number;
}

/** How many dead letters there are, of the newest 100,000. */
export interface DeadLetterStats {
  readonly count: number;
  /** True when there are more dead letters than were read: counts are lower bounds. */
  readonly atLeast: boolean;
  /** When the oldest of them died; null: there is none. */
  readonly oldestAt: Date | null;
  /** When the oldest one died that waits for a review. */
  readonly oldestPendingAt: Date | null;
  /** Those of the last 24 hours. */
  readonly last24Hours: number;
  readonly byStatus: Readonly<Record<DeadLetterStatus, number>>;
  /** The largest 100 first, here and below. `name` is null for jobs without a category. */
  readonly byCategory: readonly NamedCount[];
  readonly byType: readonly NamedCount[];
  readonly byErrorClass: readonly NamedCount[];
}

/** How many dead letters have a category, type or class of error. */
export interface NamedCount {
  readonly name: string | null;
  readonly count: number;
}

export interface DeadLetters {
  get(id: string): Promise<DeadLetter>;
  /**
   * Returns the payload of a dead letter as the JSON text that is stored, as `jobs.texts` does for
   * a job. The text is there as long as the dead letter, which outlives the job.
   */
  texts(id: string): Promise<Pick<JobTexts, "payload">>;
  /**
   * Lists dead letters, newest first, with errors as `jobs.list` returns them. Throws
   * OPTION_INVALID for an unknown filter or status.
   */
  list(filter?: DeadLetterFilter): Promise<readonly DeadLetter[]>;
  /** Counts dead letters up to 10,000. `atLeast` says that there are more. */
  count(filter?: DeadLetterCountFilter): Promise<CountedJobs>;
  /**
   * Counts dead letters by status, category, type and class of error, of all tenants or of the
   * tenant of the mill.
   */
  stats(): Promise<DeadLetterStats>;
  /** Marks a dead letter as reviewed. Notes have up to 2,000 characters, here and below. */
  acknowledge(id: string, by: { actor: string; notes?: string }): Promise<void>;
  /**
   * Enqueues the job again as a linked successor. A dead letter has one successor: a second call
   * answers the same job, with `created: false`. If the failed job had an idempotency key, the
   * successor has this key with `_retry_` and the time behind it. Another payload is checked by the
   * schema of the type, or by the JSON Schema that workers have declared if this process does not
   * know the type. If another job holds the dedup key, the call throws DEDUP_KEY_HELD and the dead
   * letter stays open.
   */
  reprocess(
    id: string,
    by: { actor: string; notes?: string; payload?: Json },
  ): Promise<Reprocessed>;
  /** Adds notes to a dead letter, whatever its status is. */
  note(id: string, by: { actor: string; notes: string }): Promise<void>;
  /** Assigns an open dead letter to a person. `null`: the person does not have it any more. */
  assign(id: string, by: { actor: string; to: string | null; notes?: string }): Promise<void>;
  /** Closes a dead letter without a successor. */
  discard(id: string, by: { actor: string; notes?: string }): Promise<void>;
}

/** The review record of a failed job. */
export interface DeadLetter {
  readonly id: string;
  readonly jobId: string;
  readonly status: "pending_review" | "acknowledged" | "reprocessed" | "discarded";
  readonly error: Fault;
  /** Equal for dead letters of one cause, such as the same mistake in the same function. */
  readonly cause: string;
  readonly type: string;
  readonly tenant: string;
  readonly attempts: number;
  readonly diedAt: Date;
  readonly reviewedBy: string | null;
  readonly reviewedAt: Date | null;
  readonly notes: string | null;
  /** The person who takes care of it. */
  readonly assignedTo: string | null;
  /** What reviewers have done: the newest 100 entries, oldest first. */
  readonly reviews: readonly ReviewView[];
  readonly category: string | null;
  readonly correlationId: string | null;
  readonly idempotencyKey: string | null;
  readonly dedupKey: string | null;
  readonly concurrencyKey: string | null;
  /** When the failed job was enqueued. */
  readonly originalCreatedAt: Date | null;
  /** The errors of the newest 50 failed runs, oldest first. They outlive the job. */
  readonly history: readonly FailedRunView[];
  /** The job that `reprocess` has enqueued. */
  readonly successorId: string | null;
  readonly payload: Json;
  /** Present if the stored text of the payload is damaged. The payload reads as `null`. */
  readonly damaged?: readonly ["payload"];
}

/** The successor of a dead letter. */
export interface Reprocessed extends Enqueued<unknown> {
  /** The dead letter that the job repeats. */
  readonly deadLetterId: string;
  /** The idempotency key of the successor. */
  readonly idempotencyKey: string | null;
}

/** A failed run, as its dead letter keeps it: without a stack, and with a short message. */
export interface FailedRunView {
  readonly number: number;
  readonly outcome: OutcomeName;
  readonly finishedAt: Date;
  readonly error: Fault;
}

/** An entry in the review of a dead letter. */
export interface ReviewView {
  readonly at: Date;
  readonly by: string;
  readonly act: "acknowledged" | "discarded" | "reprocessed" | "assigned" | "noted";
  readonly notes: string | null;
  /** To whom the dead letter was assigned. */
  readonly to: string | null;
  /** What `reprocess` has changed in the payload, at most 100 places. */
  readonly changes: readonly JsonChange[];
}
