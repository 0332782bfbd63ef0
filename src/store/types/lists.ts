/** Filters and pages of `list` and `count`. */
import type { JobId, State } from "../../core/job.ts";
import type { JobKey } from "./jobs-and-runs.ts";
import type { JobRecord } from "./records.ts";

export interface ListFilter {
  readonly states?: readonly State[];
  readonly type?: string;
  readonly tenant?: string;
  readonly category?: string;
  readonly lane?: string;
  readonly correlationId?: string;
  readonly parentId?: JobId;
  /** Part of the message, the name or the class of the last error. Case of A to Z is ignored. */
  readonly error?: string;
  /** Texts of scalars in the payload, by dotted path. All of these must match. */
  readonly payload?: Readonly<Record<string, string>>;
  /** Part of the JSON text of the payload. */
  readonly text?: string;
  /** All of these must match. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Created at this time or later, in milliseconds since the epoch. */
  readonly createdFrom?: number;
  readonly createdBefore?: number;
  /** Running jobs whose present run started at least so long ago, by the clock of the store. */
  readonly runningMs?: number;
}

export interface Page {
  /** The last job of the previous page. Pages are newest first, so older jobs follow. */
  readonly after?: JobKey;
  readonly limit: number;
}

/** How many jobs match a filter. */
export interface MatchCount {
  readonly count: number;
  /** False: the count stopped at its maximum of candidates, and there may be more. */
  readonly isExact: boolean;
}

/**
 * One page. A search reads a bounded number of candidates, so a page may be short or empty before
 * the last one. `next: null` marks the last page.
 */
export interface Listing {
  readonly jobs: readonly JobRecord[];
  readonly next: JobKey | null;
  /** The search reached its maximum before the page was full, and continues after `next`. */
  readonly isCutShort: boolean;
}
