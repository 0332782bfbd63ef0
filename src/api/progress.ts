/** The progress of jobs, as `mill.jobs` returns it. */
import type { State } from "../core/job.ts";
import type { Fault } from "../core/outcome.ts";
import type { Json } from "../core/payload.ts";
import type { PhaseState } from "../core/phases.ts";

/** The progress of a job. */
export interface ProgressView {
  readonly state: State;
  /** The progress of the whole job, 0 to 100. */
  readonly percent: number;
  /** The current phase, or that of the last run; `null` without phases, and before the first. */
  readonly phase: string | null;
  /**
   * The progress of that phase, or of a job without phases, 0 to 100: what `ctx.progress` reported,
   * or else the share of the units of `ctx.each` that have ended.
   */
  readonly phasePercent: number;
  /** The data of the last `ctx.progress`. */
  readonly data: Json;
  /** The time of the last change of the percent or of `data`; `null` before the first. */
  readonly at: Date | null;
  /**
   * The phases in the order in which they run. Before the first phase starts, the list is filled
   * only in a process that has the definition, from `work` or from an `enqueue`.
   */
  readonly phases: readonly PhaseView[];
  /** The units of all phases together. */
  readonly units: UnitCounts;
}

export interface PhaseView {
  readonly name: string;
  readonly state: PhaseState;
  /** The progress of the phase, 0 to 100. */
  readonly percent: number;
  /** The stored result; `null` before the end of the phase. */
  readonly result: Json;
  /**
   * The start and the end of the phase, in the run that ended it; `null` when not known: before the
   * phase starts, and for a phase that a retried job has kept.
   */
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly units: UnitCounts;
}

export interface UnitCounts {
  readonly total: number;
  /** Units that this run, or a later one, will start. */
  readonly planned: number;
  /** Units whose function is running. */
  readonly running: number;
  readonly completed: number;
  readonly failed: number;
}

/** One unit of a job: an item of `ctx.each`, or a `ctx.step`. */
export interface UnitView {
  readonly key: string;
  /** `null` for a job without phases. */
  readonly phase: string | null;
  /** `planned`: the unit has not started, or its run has ended before the unit did. */
  readonly state: "planned" | "running" | "completed" | "failed";
  readonly result: Json;
  readonly error: Fault | null;
  /** The time at which the unit was planned, started or ended. */
  readonly at: Date;
}

export interface UnitFilter {
  phase?: string;
  state?: UnitView["state"];
  /** The `next` of the previous page. */
  after?: string;
  /** The maximum number of units. Default 50, at most 1,000. */
  limit?: number;
}

/** A running job with a running unit of a given key. */
export interface UnitHolderView {
  readonly id: string;
  readonly phase: string | null;
  /** The time at which the unit started. */
  readonly at: Date;
}
