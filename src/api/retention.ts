/** How long finished jobs stay. */
import type { Duration } from "../core/duration.ts";
import type { FinalState } from "../core/job.ts";
import type { JobView } from "./jobs.ts";

/** Lengths from the end of a job. */
export interface RetentionPeriods {
  /** When it is marked as stale. Default: the period of the preset. */
  readonly staleAfter?: Duration;
  /** When it is removed: not before it is stale. Default: when it is stale. */
  readonly deleteAfter?: Duration;
}

/** What a type says goes before what a state says, and that before what holds for all. */
export interface RetentionOptions extends RetentionPeriods {
  readonly states?: Readonly<Partial<Record<FinalState, RetentionPeriods>>>;
  readonly types?: Readonly<Record<string, RetentionPeriods>>;
  /**
   * Called before a job is marked as stale, and again at the next sweep if it throws; nothing is
   * removed before it has succeeded. At least once per job: several workers may call it for the
   * same one. After a minute its worker goes on without waiting for it.
   */
  readonly onStale?: (job: JobView) => unknown;
  /** The same before a job is removed. */
  readonly onDelete?: (job: JobView) => unknown;
}
