/** Filters and counts of dead letters. */
import type { Instant } from "../../core/duration.ts";
import type { ErrorClass } from "../../core/job.ts";

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
