/** How far a job has come, as it is shown. */
import type { State } from "../core/job.ts";
import type { Fault } from "../core/outcome.ts";
import type { Json } from "../core/payload.ts";
import type { PhaseState } from "../core/phases.ts";

/** How far a job has come. */
export interface ProgressView {
  readonly state: State;
  /** Of the whole job, 0 to 100. */
  readonly percent: number;
  /** The phase that its last run was in; null: it has none, or none has begun. */
  readonly phase: string | null;
  /** Of that phase, 0 to 100, or of a job without phases. */
  readonly phasePercent: number;
  /** What was told with it. */
  readonly data: Json;
  /** When it was told; null: nothing was. */
  readonly at: Date | null;
  /**
   * In the order in which they run. Until the first has begun, only a process that has the
   * definition (from `work`, or from an `enqueue`) knows them.
   */
  readonly phases: readonly PhaseView[];
  /** Of all phases together. */
  readonly units: UnitCounts;
}

export interface PhaseView {
  readonly name: string;
  readonly state: PhaseState;
  /** What it returned, as it was stored; null before its end. */
  readonly result: Json;
  readonly units: UnitCounts;
}

export interface UnitCounts {
  readonly total: number;
  /** Begun by the run that goes on. */
  readonly running: number;
  /** Begun by a run that is over, and not ended: a later run does them. */
  readonly pending: number;
  readonly completed: number;
  readonly failed: number;
}

/** One unit of a job: an item of `ctx.each`, or a `ctx.step`. */
export interface UnitView {
  readonly key: string;
  /** Null: the job has no phases. */
  readonly phase: string | null;
  /** `pending`: the run that began it is over, and a later one does it. */
  readonly state: "running" | "pending" | "completed" | "failed";
  readonly result: Json;
  readonly error: Fault | null;
  /** When it began or ended. */
  readonly at: Date;
}

export interface UnitFilter {
  phase?: string;
  state?: UnitView["state"];
  /** Continue a list: the `next` of the page before. */
  after?: string;
  /** Most to answer: 50 unless told, 1,000 at most. */
  limit?: number;
}

/** A job that works on a unit just now. */
export interface UnitHolderView {
  readonly id: string;
  readonly phase: string | null;
  /** Since when. */
  readonly at: Date;
}
