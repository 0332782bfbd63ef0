/** Which dead letters, and how many of them. */
import type { ErrorClass, JobId } from "../../core/job.ts";
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

/** A place in the order of letters, newest first. Null: before all letters of this instant. */
export interface LetterPlace {
  readonly diedAt: number;
  readonly id: JobId | null;
}

/**
 * A page begins after the letter `after`, and is empty if this letter is gone; or at the place
 * `behind`, which stays where it is whatever is removed.
 */
export interface LetterPage {
  readonly after?: JobId;
  readonly behind?: LetterPlace;
  readonly limit: number;
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
