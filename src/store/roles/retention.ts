/** How finished jobs and old events leave. */
import type { JobKey } from "../types/jobs-and-runs.ts";
import type { ExpiredJobs, ExpiredPage, Periods, Pruned, Retention } from "../types/records.ts";

export interface RetentionStore {
  /**
   * Removes what has expired its retention, oldest first, at most `limit` of each kind. A job that
   * a lease still names, or that others wait for, is passed over. What the feed is told here stays
   * until the next call, even if no entry is to be kept.
   */
  prune(retention: Retention, limit: number): Promise<Pruned>;
  /**
   * The next page of a sweep over final jobs that have expired their period, longest ended first.
   * Passes over the same jobs as `prune`, and looks at so many in one call: a page may be empty
   * before the end. What was answered and is neither marked nor removed comes again in the next
   * sweep, not in this one.
   */
  expired(periods: Periods, page: ExpiredPage): Promise<ExpiredJobs>;
  /** Marks final jobs as stale, and tells the feed of each the first time. Answers how many. */
  markStale(keys: readonly JobKey[]): Promise<number>;
  /** Removes jobs of {@link expired} as `prune` does. Answers how many. */
  remove(keys: readonly JobKey[], retention: Retention): Promise<number>;
}
