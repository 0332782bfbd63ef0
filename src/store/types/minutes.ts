/** Figures about ended runs, kept in minutes and hours beyond the retention of jobs. */
import type { Histogram } from "../../core/metrics/histogram.ts";
import type { OutcomeName } from "../../core/outcome.ts";

/** A stretch of time, widened to whole minutes. */
export interface MinutesQuery {
  /** Instants by the clock of the store. `to` is not part of the stretch. */
  readonly from: number;
  readonly to: number;
  /**
   * The length of the steps, in whole minutes. Steps begin at multiples of their length since the
   * epoch. Null: the whole stretch is one step.
   */
  readonly stepMs: number | null;
  readonly type?: string;
  readonly lane?: string;
}

/** The first worker of a version of the application has registered. */
export interface Deploy {
  readonly appVersion: string;
  readonly at: number;
}

/** The runs of one type and lane that ended with one outcome, within one step. */
export interface MinuteFigures {
  /** The start of the step, or of the stretch. */
  readonly at: number;
  readonly type: string;
  readonly lane: string;
  readonly outcome: OutcomeName;
  readonly count: number;
  /** The sum of all waits: from the due time of a job to the start of its run. */
  readonly waitMs: number;
  /** The sum of all times from start to end. */
  readonly runMs: number;
  readonly waits: Histogram;
  readonly runs: Histogram;
}

export interface MinutesAnswer {
  /** By step, type, lane and outcome. */
  readonly figures: readonly MinuteFigures[];
  /** The limit was reached: older runs of the stretch are left out. */
  readonly isCutShort: boolean;
}
