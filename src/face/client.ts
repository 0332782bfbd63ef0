/** The client: what an application holds after it has opened Millrace. */
import type { Duration } from "../core/duration.ts";
import type { State } from "../core/job.ts";
import type { Fault, OutcomeName } from "../core/outcome.ts";
import type { Preset } from "../core/presets.ts";
import type { Json } from "../core/payload.ts";
import type { Logger } from "./context.ts";
import type { JobContract, JobRequest } from "./contract.ts";
import type { Enqueued, Finished, JobRef, PayloadArgs } from "./enqueue.ts";
import type { Events } from "./events.ts";
import type { ProgressView, UnitFilter, UnitHolderView, UnitView } from "./progress.ts";
import type { AnyJob, Worker, WorkOptions } from "./worker.ts";

export interface OpenOptions {
  /**
   * The tenant of jobs that name none. Default: `default`. One per database and process: another
   * one for a URL that is open here is refused.
   */
  readonly tenant?: string;
  /**
   * Numbers of one of the presets instead of the library's own, for jobs and workers alike. One per
   * database and process, like the tenant.
   */
  readonly preset?: Preset;
  /**
   * Where the library reports; any pino-shaped logger will do. Default: warnings to stderr. Each
   * opener has its own.
   */
  readonly logger?: Logger;
}

export interface Millrace extends AsyncDisposable {
  /** Resolves once the job is durable. */
  enqueue<Input, R>(
    job: JobContract<string, Input, R>,
    ...args: PayloadArgs<NoInfer<Input>>
  ): Promise<Enqueued<R>>;

  /**
   * Answers in the order asked, each with the type of its own result. A request that is not valid
   * is refused before anything is written. One that the store refuses, because a key is taken by
   * other content, harms no other: the rest is enqueued, and the error tells what became of each in
   * `details.answers`, in the order asked:
   * `{ index, id, status: "created" | "existing" | "refused", code, holder? }`, with `id: null` for
   * a refused one and `code: null` for the others.
   */
  enqueueMany<const T extends readonly JobRequest<unknown>[]>(
    requests: T,
  ): Promise<{ [I in keyof T]: T[I] extends JobRequest<infer R> ? Enqueued<R> : never }>;

  /**
   * Resolves with the final job, however it ended. Rejects with STORE_CLOSED when the mill is
   * closed before; the job goes on.
   */
  wait<R>(job: JobRef<R>, options?: WaitOptions): Promise<Finished<R>>;

  /** Resolves with the result, or throws a MillraceError JOB_FAILED / JOB_CANCELLED. */
  result<R>(job: JobRef<R>, options?: WaitOptions): Promise<R>;

  work<const J extends readonly AnyJob[]>(options: WorkOptions<J>): Worker;

  /**
   * Events of the whole installation, read from the durable feed: it hears jobs that other
   * processes ran. Answers a function that ends the listening. A listener that throws, or answers a
   * promise that is rejected, is logged and hears the next event all the same.
   */
  on<E extends keyof Events>(event: E, listener: (event: Events[E]) => void): () => void;

  readonly jobs: Jobs;
  readonly deadLetters: DeadLetters;
  readonly workers: Workers;

  /**
   * From the next claim on, nothing behind this gate starts. A reason has up to 2,000 characters.
   */
  pause(target: PauseTarget, reason: string): Promise<void>;
  resume(target: PauseTarget): Promise<void>;
  /**
   * Stops the workers that were started here, ends every wait, and closes the store unless others
   * of this process have it open. Harmless when repeated. A handler must not close the mill that
   * runs it: CLOSE_FROM_WITHIN.
   */
  close(): Promise<void>;
}

export interface WaitOptions {
  timeout?: Duration;
  signal?: AbortSignal;
}

export type PauseTarget = { lane: string } | { type: string } | { tenant: string };

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
   * another job holds its dedup key meanwhile, that is DEDUP_KEY_HELD.
   */
  retry(id: string): Promise<Enqueued<unknown>>;
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
   * assert.deepEqual(phases[1]?.units, { total: 2, running: 0, completed: 2, failed: 0 });
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

export interface DeadLetters {
  get(id: string): Promise<DeadLetter>;
  /** Newest first. Throws OPTION_INVALID for a filter or a status that there is not. */
  list(filter?: DeadLetterFilter): Promise<readonly DeadLetter[]>;
  /** Notes have up to 2,000 characters, here and below. */
  acknowledge(id: string, by: { actor: string; notes?: string }): Promise<void>;
  /**
   * Enqueues it again as a linked successor. If another job holds its dedup key meanwhile, that is
   * DEDUP_KEY_HELD, and the letter stays open.
   */
  reprocess(
    id: string,
    by: { actor: string; notes?: string; payload?: Json },
  ): Promise<Enqueued<unknown>>;
  discard(id: string, by: { actor: string; notes?: string }): Promise<void>;
}

export interface DeadLetterFilter {
  status?: DeadLetter["status"];
  type?: string;
  tenant?: string;
  /** Continue a list: the id of the last letter of the page before. */
  after?: string;
  limit?: number;
}

export interface Workers {
  list(): Promise<readonly WorkerView[]>;
  /** It takes no new work and keeps what it has. */
  quiet(id: string): Promise<void>;
}

export interface WorkerView {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly joinedAt: Date;
  /** False when its heartbeat is overdue. */
  readonly isAlive: boolean;
  readonly isQuiet: boolean;
  /** What it takes. The slots of the lane `general` take jobs of any lane. */
  readonly types: readonly string[];
  readonly lanes: readonly string[];
  /** `null`: jobs of all tenants. */
  readonly tenant: string | null;
  /** How many jobs it can run at once, and how many it runs. */
  readonly slots: number;
  readonly running: number;
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
  readonly tags: Readonly<Record<string, string>>;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  /** When it runs next, while it waits. */
  readonly runAt: Date | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly cancelReason: string | null;
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

/** The review record of a failed job. */
export interface DeadLetter {
  readonly id: string;
  readonly jobId: string;
  readonly status: "pending_review" | "acknowledged" | "reprocessed" | "discarded";
  readonly error: Fault;
  readonly type: string;
  readonly tenant: string;
  readonly attempts: number;
  readonly diedAt: Date;
  readonly reviewedBy: string | null;
  readonly reviewedAt: Date | null;
  readonly notes: string | null;
  /** The job that took its place. */
  readonly successorId: string | null;
  readonly payload: Json;
}
