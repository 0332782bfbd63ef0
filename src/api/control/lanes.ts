/** `mill.lanes`: the lanes of an installation, with their slots and their waiting jobs. */
import type { CountedJobs } from "../jobs.ts";

export interface LaneOverview {
  /**
   * Lists the lanes that have jobs or slots, or that are paused or fair, by name. A lane comes from
   * a worker or from a job; there is nothing to create. Each count reads at most 100,000 jobs.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const email = defineJob({ type: "email", lane: "fast" });
   *
   * await using test = await createTestMill();
   * await test.mill.enqueue(email);
   * await test.advance("1m");
   *
   * const [fast] = await test.mill.lanes.list();
   * assert.equal(fast?.lane, "fast");
   * assert.deepEqual(fast?.waiting, { count: 1, atLeast: false });
   * assert.equal(fast?.oldestAgeMs, 60_000);
   * assert.equal(fast?.workers, 0);
   * ```
   */
  list(): Promise<readonly LaneView[]>;
}

export interface LaneView {
  readonly lane: string;
  /**
   * The slots that living workers have in this lane. Jobs of the lane may also use the slots of
   * `general`, so that more of them may run than the lane has slots.
   */
  readonly slots: number;
  /** The jobs of the lane that run, or that a worker has prefetched. */
  readonly running: number;
  /** Jobs that are due and that a free slot would start. */
  readonly waiting: CountedJobs;
  /** Due jobs that a pause, a breaker, a limit, a concurrency key or a dependency holds back. */
  readonly held: CountedJobs;
  /** How long the oldest waiting job has been due; `null` if no job waits. */
  readonly oldestAgeMs: number | null;
  /**
   * The longest wait that is expected: two minutes in the lane `fast`, five in any other.
   * `mill.attention` reports a longer one.
   */
  readonly targetMs: number;
  /** The pause of the lane itself. */
  readonly pause: LanePause | null;
  /** True when tenants start jobs in proportion to their weights; see `mill.fairness`. */
  readonly fair: boolean;
  /** The living workers that take jobs of the lane: with slots in the lane or in `general`. */
  readonly workers: number;
}

export interface LanePause {
  readonly reason: string;
  readonly pausedBy: string | null;
  readonly pausedAt: Date;
  /** `null` means until `resume`. */
  readonly until: Date | null;
}
