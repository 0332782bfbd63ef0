/** Which dead letters, and how many of them. */
import type { ErrorClass } from "../../core/job.ts";
import type { DeadLetterRecord } from "./records.ts";

export interface DeadLetterQuery {
  readonly status?: DeadLetterRecord["status"];
  readonly type?: string;
  readonly tenant?: string;
  readonly category?: string;
  readonly correlationId?: string;
  readonly cause?: string;
  readonly errorClass?: ErrorClass;
  readonly assignedTo?: string;
  /** The failed job was created at this time or later, in milliseconds since the epoch. */
  readonly createdFrom?: number;
  readonly createdBefore?: number;
}

/** Dead letters of one status, type, category and class of error. */
export interface LetterGroup {
  readonly status: DeadLetterRecord["status"];
  readonly type: string;
  readonly category: string | null;
  readonly errorClass: string | null;
  readonly letters: number;
  readonly oldestAt: number;
  /** The letters of the last 24 hours. */
  readonly lastDay: number;
}

export interface LetterGroups {
  readonly groups: readonly LetterGroup[];
  /** There are more groups. */
  readonly hasMore: boolean;
}
