/** Failures grouped by cause. */
import type { Instant } from "../../core/duration.ts";
import type { GroupStatus } from "../../core/failures/group-status.ts";
import type { Fault } from "../../core/outcome.ts";

/**
 * Open dead letters by cause. The mill of a tenant has the groups and the decisions of the tenant;
 * any other mill has groups over all tenants, with decisions of its own.
 */
export interface Failures {
  /**
   * The groups of open dead letters, the one that failed last first.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob, NonRetryableError, typed } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const pay = defineJob({ type: "pay", payload: typed<number>() }).run((order) => {
   *   throw new NonRetryableError(`order ${order} has no account`);
   * });
   *
   * await using test = await createTestMill();
   * await test.mill.enqueueMany([pay.of(17), pay.of(18)]);
   * await test.drain([pay]);
   *
   * const [group] = await test.mill.failures.list();
   * assert.equal(group?.count, 2);
   * assert.equal(group?.status, "new");
   * const done = await test.mill.failures.retry(group.cause, { actor: "ada", notes: "fixed" });
   * assert.equal(done.retried, 2);
   * ```
   */
  list(filter?: FailureFilter): Promise<readonly FailureGroup[]>;
  /** One group. Throws JOB_NOT_FOUND if no open dead letter has this cause. */
  get(cause: string, filter?: Pick<FailureFilter, "tenant">): Promise<FailureGroup>;
  /** Marks a group as known. A later failure makes it `returned`. */
  acknowledge(cause: string, by: FailureActor): Promise<void>;
  /** Hides a group until an instant. A failure after that instant makes it `returned`. */
  snooze(cause: string, by: FailureActor & { until: Instant }): Promise<void>;
  /**
   * Reprocesses the dead letters of a group, newest first, in transactions of 100. A call deals
   * with up to `limit` dead letters, 10,000 if it is not given: `complete` says whether it reached
   * the end of the group. A repeat makes no second job for a dead letter.
   */
  retry(cause: string, by: FailureActor & { limit?: number }): Promise<RetriedFailures>;
  /** Discards the dead letters of a group, in the same way. */
  discard(cause: string, by: FailureActor & { limit?: number }): Promise<DiscardedFailures>;
}

export interface FailureFilter {
  tenant?: string;
  /** At most 100; 50 if it is not given. */
  limit?: number;
  /** The cause of the last group of the page before. Only the first 1,000 causes are listed. */
  after?: string;
}

export interface FailureActor {
  actor: string;
  notes?: string;
  /** The dead letters of this tenant alone. */
  tenant?: string;
}

export interface FailureGroup {
  /** The cause, as attempts and dead letters show it. */
  readonly cause: string;
  /** The open dead letters, up to 10,000. */
  readonly count: number;
  /** There are more than `count`. */
  readonly atLeast: boolean;
  /**
   * `new`: no decision, and first seen within a day. `returned`: a failure is newer than the
   * acknowledgement, than the end of the snooze, or than the retry.
   */
  readonly status: GroupStatus;
  readonly types: readonly string[];
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  /** The dead letters of each of the last 24 hours, oldest hour first, of the newest 10,000. */
  readonly trend: readonly number[];
  /** The newest dead letter. */
  readonly sample: { readonly jobId: string; readonly tenant: string; readonly error: Fault };
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  /** The end of a snooze. */
  readonly until: Date | null;
  readonly notes: string | null;
}

export interface RetriedFailures {
  /** New jobs. */
  readonly retried: number;
  /** Dead letters whose job had a successor before. */
  readonly existing: number;
  /** Dead letters whose dedup key another job holds. They stay open. */
  readonly held: number;
  /** Dead letters whose copy is damaged, or whose job the store refused. They stay open. */
  readonly refused: number;
  readonly complete: boolean;
}

export interface DiscardedFailures {
  readonly discarded: number;
  readonly complete: boolean;
}
