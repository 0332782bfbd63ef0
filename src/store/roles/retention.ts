/** How final jobs, dead letters, keys, events, tokens and figures are removed. */
import type { JobKey } from "../types/jobs-and-runs.ts";
import type { ExpiredJobs, ExpiredPage, Periods, Pruned, Retention } from "../types/records.ts";

export interface RetentionStore {
  /**
   * Removes what has expired, oldest first, at most `limit` of each kind. A job that a lease still
   * names, or that other jobs depend on, is skipped. The `job:deleted` events of this call stay at
   * least until the next call, even with an event period of 0. Events are removed in the order of
   * their positions: an event stays as long as one before it, also if its own instant is earlier.
   * For audit entries, dead letters and idempotency keys, the longest period holds that a caller
   * has declared within the last 30 days, by a call of `prune` or {@link remove}.
   * Of API tokens, sessions and streams are removed when they have ended, all others 30 days later.
   */
  prune(retention: Retention, limit: number): Promise<Pruned>;
  /**
   * Adds counted runs to the figures of their minutes and hours, at most `limit` batches. Answers
   * how many batches. On PostgreSQL one call at a time folds, and answers 0 to the others. The
   * answers of {@link ReaderStore.minutes} stay the same.
   */
  foldMinutes(limit: number): Promise<number>;
  /**
   * The next page of expired jobs, longest ended first. Skips the same jobs as `prune`. One call
   * scans a bounded number of jobs, so a page may be empty before the sweep ends. A job that was
   * answered and then neither marked nor removed is not answered again in this sweep, but in the
   * next one.
   */
  expired(periods: Periods, page: ExpiredPage): Promise<ExpiredJobs>;
  /**
   * Marks final jobs as stale. A `job:stale` event is written when a job is first marked. Answers
   * how many jobs were newly marked.
   */
  markStale(keys: readonly JobKey[]): Promise<number>;
  /** Removes jobs answered by {@link expired}, as `prune` does. Answers how many. */
  remove(keys: readonly JobKey[], retention: Retention): Promise<number>;
}
