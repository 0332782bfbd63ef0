/** Bulk operations: one action on many jobs or dead letters. */
import type { Duration, Instant } from "../../core/duration.ts";
import type { DeadLetter, WaitOptions } from "../client.ts";
import type { DeadLetterFilter } from "./letters.ts";
import type { CountFilter } from "./job-filter.ts";
import type { JobView } from "../jobs.ts";
import type { JobSettings } from "../settings.ts";

/**
 * Bulk operations. An operation is stored, and any process with a worker continues it, also when
 * the process that started it is gone. Each item is changed once.
 */
export interface Operations {
  /**
   * How many jobs or dead letters an action would change now, and a sample of them. Nothing is
   * changed. A filter without a condition is refused.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob, typed } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const email = defineJob({ type: "email", payload: typed<string>() }).run(() => {});
   *
   * await using test = await createTestMill();
   * const { operations } = test.mill;
   * await test.mill.enqueueMany([email.of("ada"), email.of("bob")]);
   *
   * const request = { action: "cancel", jobs: { type: "email" } } as const;
   * assert.equal((await operations.preview(request)).count, 2);
   * const started = await operations.start(request, { actor: "ada", reason: "wrong list" });
   * const operation = await operations.wait(started.id);
   * assert.equal(operation.done, 2);
   * ```
   */
  preview(request: OperationRequest): Promise<OperationPreview>;
  /**
   * Starts an operation. It deals with the jobs that match when their chunk is reached and were
   * enqueued before the operation began, newest first.
   */
  start(request: OperationRequest, options: OperationOptions): Promise<Operation>;
  /** One operation. Throws OPERATION_NOT_FOUND. */
  get(id: string): Promise<Operation>;
  /** Operations, newest first. They are kept for 30 days after their end. */
  list(filter?: OperationFilter): Promise<readonly Operation[]>;
  /** What became of each item, in the order of the walk. */
  items(id: string, page?: OperationItemPage): Promise<OperationItems>;
  /** Ends an operation before its next chunk. What it has changed stays. */
  stop(id: string, by: { actor: string }): Promise<Operation>;
  /** Resolves with the operation when it has ended, in any way. */
  wait(id: string, options?: WaitOptions): Promise<Operation>;
}

/** What is done to jobs. */
export type JobBulkAction =
  | { action: "cancel" | "retry" | "delete" }
  | { action: "priority"; priority: NonNullable<JobSettings["priority"]> }
  | { action: "reschedule"; runAt: Instant; delay?: undefined }
  /** The delay counts from the moment at which the job is reached. */
  | { action: "reschedule"; delay: Duration; runAt?: undefined };

/** What is done to dead letters. */
export interface DeadLetterBulkAction {
  action: "reprocess" | "discard" | "acknowledge";
}

/**
 * An action, and the jobs or dead letters that a filter matches or that ids name. A filter needs
 * at least one condition; up to 10,000 ids can be named.
 */
export type OperationRequest =
  | (JobBulkAction & { jobs: CountFilter; deadLetters?: undefined; ids?: undefined })
  | (DeadLetterBulkAction & {
      deadLetters: Omit<DeadLetterFilter, "after" | "limit">;
      jobs?: undefined;
      ids?: undefined;
    })
  | ((JobBulkAction | DeadLetterBulkAction) & {
      ids: readonly string[];
      jobs?: undefined;
      deadLetters?: undefined;
    });

export interface OperationOptions {
  /** The person, for the record. */
  actor: string;
  /** Why, for the record: up to 1,000 characters. */
  reason: string;
  /** Items per second: a number, or a text such as `"500/s"` or `"30/m"`. Default: 500. */
  rate?: number | string;
  /** Items per transaction, at most 500. Default: 50. */
  chunk?: number;
}

export interface OperationPreview {
  readonly action: Operation["action"];
  /** How many items would be changed. */
  readonly count: number;
  /** True when the count stopped at its maximum of 10,000: there are at least so many. */
  readonly atLeast: boolean;
  /** Items that match, and that the action does not change, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Up to 10 of the jobs, newest first; empty for dead letters. */
  readonly jobs: readonly JobView[];
  /** Up to 10 of the dead letters, newest first; empty for jobs. */
  readonly deadLetters: readonly DeadLetter[];
}

export interface Operation {
  readonly id: string;
  readonly status: "pending" | "running" | "completed" | "stopped" | "failed";
  readonly action: (JobBulkAction | DeadLetterBulkAction)["action"];
  readonly target: "jobs" | "deadLetters";
  /** The filter as it is applied; null: the operation names ids. */
  readonly filter: Readonly<Record<string, unknown>> | null;
  /** How many ids the operation names; null: the operation has a filter. */
  readonly ids: number | null;
  /** The only tenant whose jobs are changed; null: all tenants. */
  readonly tenant: string | null;
  readonly actor: string;
  readonly reason: string;
  /** Items per second, and per transaction. */
  readonly rate: number;
  readonly chunk: number;
  /** How many items matched when the operation started. */
  readonly expected: number;
  readonly expectedAtLeast: boolean;
  /** The items so far: the sum of `done`, `failed` and all `skipped`. */
  readonly items: number;
  readonly done: number;
  readonly failed: number;
  /** By reason: `state`, `existing`, `held`, `closed`, `kept`, `nothing_to_retry`, `unknown`. */
  readonly skipped: Readonly<Record<string, number>>;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly stoppedBy: string | null;
  /** Why the operation has failed. */
  readonly error: { readonly name: string; readonly message: string } | null;
}

export interface OperationFilter {
  status?: Operation["status"];
  /** The id of the last operation of the previous page. */
  after?: string;
  /** At most 1,000; 50 if it is not given. */
  limit?: number;
}

export interface OperationItemPage {
  outcome?: OperationItemView["outcome"];
  /** The number of the last item of the previous page. */
  after?: number;
  /** At most 1,000; 50 if it is not given. */
  limit?: number;
}

export interface OperationItems {
  readonly items: readonly OperationItemView[];
  /** The number after which the next page begins; null: this is the last page. */
  readonly next: number | null;
}

export interface OperationItemView {
  /** From 1, in the order of the walk. */
  readonly n: number;
  readonly jobId: string;
  readonly outcome: "done" | "skipped" | "failed";
  /** Why the item was skipped, or the code of its error. */
  readonly code: string | null;
  /** The new job that repeats the item; for a skipped item, the job that stands in its way. */
  readonly successorId: string | null;
}
