/** `mill.jobs`: what can be asked about jobs, and done to one. */
import type { State } from "../core/job.ts";
import type { Fault, OutcomeName } from "../core/outcome.ts";
import type { Json } from "../core/payload.ts";
import type { Enqueued } from "./enqueue.ts";
import type { LogPage, LogView } from "./logs.ts";
import type { ProgressView, UnitFilter, UnitHolderView, UnitView } from "./progress.ts";

export interface Jobs {
  /** Throws JOB_NOT_FOUND. */
  get(id: string): Promise<JobView>;
  /** Newest first. Throws OPTION_INVALID for a filter or a state that there is not. */
  list(filter?: JobFilter): Promise<{ jobs: readonly JobView[]; next: string | null }>;
  /**
   * A waiting job ends at once; a running one is asked to stop. A reason has up to 2,000
   * characters.
   */
  cancel(id: string, reason?: string): Promise<JobView>;
  /**
   * A waiting job runs now. A finished one gets a linked successor that keeps phases and units; if
   * another job holds its dedup key meanwhile, that is DEDUP_KEY_HELD. A pipeline all of whose
   * phases have ended well has nothing left to do: NOTHING_TO_RETRY. With `restart`, the successor
   * keeps nothing.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * let renders = 0;
   * const publish = defineJob({ type: "publish" }).phase("render", () => (renders += 1));
   *
   * await using test = await createTestMill();
   * const job = await test.mill.enqueue(publish);
   * await test.drain([publish]);
   *
   * await assert.rejects(test.mill.jobs.retry(job.id), { code: "NOTHING_TO_RETRY" });
   * const again = await test.mill.jobs.retry(job.id, { restart: true });
   * await test.drain([publish]);
   * assert.equal(await test.mill.result(again), 2);
   * ```
   */
  retry(id: string, options?: { restart?: boolean }): Promise<Enqueued<unknown>>;
  /**
   * Ends a job as failed, with its dead letter; the message has up to 2,000 characters. With
   * `retry` it counts as a failed attempt, and waits by the backoff of its definition where this
   * process has it (from `work`, or from an `enqueue`), else by that of this mill's preset.
   */
  fail(id: string, message: string, options?: { retry?: boolean }): Promise<JobView>;
  /** Takes a job away from a worker that is stuck with it. It is queued again, uncharged. */
  release(id: string): Promise<JobView>;
  /** Every run of a job so far, oldest first. */
  attempts(id: string): Promise<readonly AttemptView[]>;
  /**
   * How far a job has come: its phases, and how many of their units have begun and ended. Throws
   * JOB_NOT_FOUND.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const publish = defineJob({ type: "publish" })
   *   .phase("render", () => ({ pages: ["a", "b"] }))
   *   .phase("upload", (_, ctx) =>
   *     ctx.each(ctx.results.render.pages, (page) => page, (page) => `/${page}`),
   *   );
   *
   * await using test = await createTestMill();
   * const job = await test.mill.enqueue(publish);
   * await test.drain([publish]);
   *
   * const { percent, phases } = await test.mill.jobs.progress(job.id);
   * assert.equal(percent, 100);
   * assert.deepEqual(phases[0]?.result, { pages: ["a", "b"] });
   * assert.deepEqual(phases[1]?.units, {
   *   total: 2,
   *   running: 0,
   *   pending: 0,
   *   completed: 2,
   *   failed: 0,
   * });
   * ```
   */
  progress(id: string): Promise<ProgressView>;
  /**
   * What became of the units of a job, in the order of phase and key. Throws JOB_NOT_FOUND, and
   * OPTION_INVALID for a filter or a state that there is not.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const purge = defineJob({ type: "purge" }).run(async (_, ctx) => {
   *   await ctx.each(["/a", "/b"], (path) => path, (path) => {
   *     if (path === "/b") throw new Error("R2 timeout after 3 retries");
   *   });
   * });
   *
   * await using test = await createTestMill();
   * const job = await test.mill.enqueue(purge);
   * await test.drain([purge]);
   *
   * const { units } = await test.mill.jobs.units(job.id, { state: "failed" });
   * assert.equal(units[0]?.key, "/b");
   * assert.equal(units[0]?.error?.message, "R2 timeout after 3 retries");
   * ```
   */
  units(
    id: string,
    filter?: UnitFilter,
  ): Promise<{ units: readonly UnitView[]; next: string | null }>;
  /**
   * Running jobs that work on a unit of this key just now, at most 100: ask before you begin
   * something that must not happen twice at a time.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const { mill } = test;
   * const update = defineJob({ type: "update" }).run(async (_, ctx) => {
   *   await ctx.each(["edition-7"], (slug) => slug, async (slug) => {
   *     const [holder] = await mill.jobs.holders(slug);
   *     assert.equal(holder?.id, ctx.job.id);
   *   });
   * });
   *
   * const job = await mill.enqueue(update);
   * await test.drain([update]);
   * assert.equal((await mill.wait(job)).state, "completed");
   * assert.deepEqual(await mill.jobs.holders("edition-7"), []);
   * ```
   */
  holders(unit: string): Promise<readonly UnitHolderView[]>;
  /**
   * What a job's handler has logged with `ctx.log`, oldest first: the newest lines, or those that
   * come after the line `after`. Of each job the newest 1,000 lines are kept, and no more than
   * 65,536 characters. Throws JOB_NOT_FOUND.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const fetchAll = defineJob({ type: "fetch" }).run((_, ctx) => {
   *   ctx.log.info("fetched", { pages: 12 });
   *   ctx.log.warn("one was empty");
   * });
   *
   * await using test = await createTestMill();
   * const job = await test.mill.enqueue(fetchAll);
   * await test.drain([fetchAll]);
   *
   * const { lines } = await test.mill.jobs.logs(job.id);
   * assert.deepEqual(lines[0]?.fields, { pages: 12 });
   * assert.equal(lines[1]?.level, "warn");
   * const later = await test.mill.jobs.logs(job.id, { after: lines[0]?.line ?? 0 });
   * assert.equal(later.lines[0]?.message, "one was empty");
   * ```
   */
  logs(id: string, page?: LogPage): Promise<{ lines: readonly LogView[]; next: number | null }>;
  /** Why a job does not run, and what to do about it. */
  explain(id: string): Promise<Explanation>;
  /** How many jobs wait, run and have failed, and how long the oldest has waited. */
  stats(): Promise<JobStats>;
}

/** Why a job does not run. */
export interface Explanation {
  readonly sentence: string;
  /** The same as one word, for programs. */
  readonly reason: string;
  /** What to do about it. */
  readonly hint: string;
  /** When it changes by itself. */
  readonly until?: Date;
}

export interface JobStats {
  readonly scheduled: number;
  readonly queued: number;
  /** Queued, but behind a closed gate. */
  readonly held: number;
  readonly running: number;
  readonly failed: number;
  readonly oldestQueuedMs: number | null;
}

export interface JobView {
  readonly id: string;
  readonly type: string;
  readonly state: State;
  readonly tenant: string;
  readonly lane: string;
  readonly category: string | null;
  readonly priority: number;
  /** `null` for a job without payload. */
  readonly payload: Json;
  /** What the handler returned; `null` before the end, and for one that returned nothing. */
  readonly result: Json;
  /** Why the last run failed. */
  readonly error: Fault | null;
  /** Of the whole job, 0 to 100. */
  readonly progress: number;
  /** The phase that its last run was in; null: it has none, or none has begun. */
  readonly phase: string | null;
  /** Attempts charged so far, and how many it may have. */
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly correlationId: string;
  readonly parentId: string | null;
  readonly retryOf: string | null;
  readonly idempotencyKey: string | null;
  readonly dedupKey: string | null;
  readonly concurrencyKey: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  /** When it runs next, while it waits. */
  readonly runAt: Date | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly cancelReason: string | null;
  /** It ended so long ago that it will be removed; see the `retention` of `work`. */
  readonly stale: boolean;
}

/** One run of a job. */
export interface AttemptView {
  readonly number: number;
  /** Attempts and crashes charged until then. A run that is charged raises them. */
  readonly attempts: number;
  readonly crashes: number;
  readonly outcome: OutcomeName;
  readonly fence: number | null;
  readonly worker: string | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date;
  readonly error: Fault | null;
  readonly nextRunAt: Date | null;
}

export interface JobFilter {
  /** `pending` stands for scheduled and queued together. */
  state?: State | "pending" | readonly (State | "pending")[];
  type?: string;
  tenant?: string;
  category?: string;
  correlationId?: string;
  parentId?: string;
  /** All of these must match. */
  tags?: Readonly<Record<string, string>>;
  /** Continue a list: the `next` of the page before. */
  after?: string;
  /** Most to answer: 50 unless told, 1,000 at most. */
  limit?: number;
}
