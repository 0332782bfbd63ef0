/** Which jobs `mill.jobs.list` and `mill.jobs.count` find. */
import type { Duration, Instant } from "../../core/duration.ts";
import type { State } from "../../core/job.ts";

export interface JobFilter {
  /** `pending` means scheduled or queued. */
  state?: State | "pending" | readonly (State | "pending")[];
  type?: string;
  tenant?: string;
  category?: string;
  /** The lane that the job was enqueued for. */
  lane?: string;
  /** The text that `correlationId` of a view shows, or the id of the first job of the chain. */
  correlationId?: string;
  parentId?: string;
  /** The job must have all of these tags. */
  tags?: Readonly<Record<string, string>>;
  /**
   * Created at this time or later. Where the clock of the store was set back by more than an hour,
   * jobs may be missing from a range of time.
   */
  createdAfter?: Instant;
  /** Created before this time. */
  createdBefore?: Instant;
  /**
   * Running jobs whose present run started longer ago, by the clock of the store. Cannot be
   * combined with a `state` other than `running`.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const { jobs } = await test.mill.jobs.list({ runningLongerThan: "30m" });
   * assert.deepEqual(jobs, []);
   * ```
   */
  runningLongerThan?: Duration;
  /**
   * Part of the message, the name or the class of the last error. Letters from A to Z match in
   * either case. Like `lane`, `payload` and `text`, this condition has no index: a page checks at
   * most 16,000 jobs that the other conditions have found, and says `cutShort` if more are left.
   */
  error?: string;
  /**
   * Scalars in the payload, by path: the value at the path, written as text, equals this text. An
   * index of an array is a number in the path, as in `items.0.sku`. Numbers are compared as they
   * are written, so that no digit is lost. At most 5 paths of up to 200 characters.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob, typed } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const greet = defineJob({ type: "greet", payload: typed<{ user: { id: number } }>() });
   * const { id } = await test.mill.enqueue(greet, { user: { id: 42 } });
   * await test.mill.enqueue(greet, { user: { id: 43 } });
   *
   * const { jobs } = await test.mill.jobs.list({ type: "greet", payload: { "user.id": "42" } });
   * assert.deepEqual(jobs.map((job) => job.id), [id]);
   * ```
   */
  payload?: Readonly<Record<string, string>>;
  /** Part of the JSON text of the payload, in the same case: 3 to 500 characters. */
  text?: string;
  /** The `next` of the previous page, or the id of a job. */
  after?: string;
  /** The maximum number of jobs. Default 50, at most 1,000. */
  limit?: number;
}

/** The filters of a count: those of a list, without the page. */
export type CountFilter = Omit<JobFilter, "after" | "limit">;
