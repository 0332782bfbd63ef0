/** `mill.metrics`: how long jobs wait and run, how many end, and how. */
import type { Duration, Instant } from "../../core/duration.ts";
import type { OutcomeName } from "../../core/outcome.ts";

export interface Metrics {
  /**
   * Figures about the runs that ended within a stretch of time, for the whole stretch and by type
   * and lane. A run counts in the minute of its end, and still counts when its job was removed. Its
   * wait is the time from the due time of the job to the start of the run; a retry is due again
   * later. Quantiles differ from the exact ones by at most 6.25 %.
   *
   * Figures are kept for 30 days, unless the preset says otherwise. A stretch is widened to whole
   * minutes.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const email = defineJob({ type: "email" }).run(() => {});
   *
   * await using test = await createTestMill();
   * await test.mill.enqueue(email);
   * await test.advance("200ms");
   * await using worker = test.mill.work({ jobs: [email] });
   * await worker.ready;
   * await test.advance("1m");
   *
   * const { total, groups } = await test.mill.metrics.read({ type: "email" });
   * assert.equal(total.runs, 1);
   * assert.equal(total.errorRate, 0);
   * assert.ok(Math.abs(groups[0]!.wait.p95! - 200) <= 200 / 16);
   * ```
   */
  read(query?: MetricsQuery): Promise<RunMetrics>;
  /**
   * Lists when workers of another version of the application (`appVersion` of `work`) began to
   * register, newest first, at most 1,000. Kept as long as the figures of `read`.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const email = defineJob({ type: "email" }).run(() => {});
   *
   * await using test = await createTestMill();
   * await using worker = test.mill.work({ jobs: [email], appVersion: "1.4.0" });
   * await worker.ready;
   *
   * const [newest] = await test.mill.metrics.deploys();
   * assert.equal(newest?.appVersion, "1.4.0");
   * ```
   */
  deploys(query?: Pick<MetricsQuery, "from" | "to">): Promise<readonly DeployView[]>;
}

/** The first worker of a version has registered. */
export interface DeployView {
  readonly appVersion: string;
  readonly at: Date;
}

export interface MetricsQuery {
  /** Default: one hour before `to`. */
  readonly from?: Instant;
  /** Default: now. */
  readonly to?: Instant;
  /**
   * Splits the stretch into steps, for a chart: whole minutes, at most 1,500 steps. Steps begin at
   * multiples of their length, so that a step of an hour is an hour of the clock (UTC).
   */
  readonly step?: Duration;
  readonly type?: string;
  readonly lane?: string;
}

export interface RunMetrics {
  /** The stretch in whole minutes. */
  readonly fromAt: Date;
  readonly toAt: Date;
  /** Over the whole stretch. */
  readonly total: RunFigures;
  /** By step, type and lane. Groups without runs are left out. */
  readonly groups: readonly RunGroup[];
  /**
   * By step, over all types and lanes: quantiles of groups cannot be added up. Steps without runs
   * are left out, and without a step in the query there is none.
   */
  readonly steps: readonly RunStep[];
  /** Too many rows: the oldest runs of the stretch are left out. A shorter stretch has all. */
  readonly cutShort: boolean;
}

export interface RunStep extends RunFigures {
  /** The start of the step. */
  readonly at: Date;
}

export interface RunGroup extends RunFigures {
  /** The start of the step, or of the stretch. */
  readonly at: Date;
  readonly type: string;
  readonly lane: string;
}

export interface RunFigures {
  /** The number of runs that ended. */
  readonly runs: number;
  readonly outcomes: Readonly<Record<OutcomeName, number>>;
  /** Ended runs per second, over the part of the step that has passed. */
  readonly perSecond: number;
  /**
   * The share of failed, timed-out and crashed runs among these and the succeeded ones. Null: none
   * of them. Runs that were cancelled, interrupted or snoozed do not count.
   */
  readonly errorRate: number | null;
  /** In milliseconds. */
  readonly wait: Quantiles;
  readonly run: Quantiles;
}

/** Null: no run. */
export interface Quantiles {
  readonly mean: number | null;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}
