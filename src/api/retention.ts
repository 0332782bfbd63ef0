/** The options that say how long finished jobs are kept. */
import type { Duration } from "../core/duration.ts";
import type { FinalState } from "../core/job.ts";
import type { JobView } from "./jobs.ts";

/** Periods that start at the end of a job. */
export interface RetentionPeriods {
  /** After this period the job is marked as stale. Default: the period of the preset. */
  readonly staleAfter?: Duration;
  /** After this period the job is removed, at the earliest when it is stale. Default: then. */
  readonly deleteAfter?: Duration;
}

/** A period for a type overrides a period for a state, which overrides the general period. */
export interface RetentionOptions extends RetentionPeriods {
  readonly states?: Readonly<Partial<Record<FinalState, RetentionPeriods>>>;
  readonly types?: Readonly<Record<string, RetentionPeriods>>;
  /**
   * Called before a job is marked as stale. If the hook throws, the worker calls it again at the
   * next sweep, and the job is not removed before the hook has succeeded. The hook is called at
   * least once per job; several workers may call it for the same job. The worker waits at most a
   * minute for the hook.
   */
  readonly onStale?: (job: JobView) => unknown;
  /** Called before a job is removed, under the same rules as `onStale`. */
  readonly onDelete?: (job: JobView) => unknown;
}
