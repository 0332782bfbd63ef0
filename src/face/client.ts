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
import type { AnyJob, Worker, WorkOptions } from "./worker.ts";

export interface OpenOptions {
  /** The tenant of jobs that name none. Default: `default`. */
  readonly tenant?: string;
  /** Numbers of one of the presets instead of the library's own, for jobs and workers alike. */
  readonly preset?: Preset;
  /** Where the library reports; any pino-shaped logger will do. Default: warnings to stderr. */
  readonly logger?: Logger;
}

export interface Millrace extends AsyncDisposable {
  /** Resolves once the job is durable. */
  enqueue<Input, R>(
    job: JobContract<string, Input, R>,
    ...args: PayloadArgs<NoInfer<Input>>
  ): Promise<Enqueued<R>>;

  /** Answers in the order asked, each with the type of its own result. */
  enqueueMany<const T extends readonly JobRequest<unknown>[]>(
    requests: T,
  ): Promise<{ [I in keyof T]: T[I] extends JobRequest<infer R> ? Enqueued<R> : never }>;

  /** Resolves with the final job, however it ended. */
  wait<R>(job: JobRef<R>, options?: WaitOptions): Promise<Finished<R>>;

  /** Resolves with the result, or throws a MillraceError JOB_FAILED / JOB_CANCELLED. */
  result<R>(job: JobRef<R>, options?: WaitOptions): Promise<R>;

  work<const J extends readonly AnyJob[]>(options: WorkOptions<J>): Worker;

  /**
   * Events of the whole installation, read from the durable feed: it hears jobs that other
   * processes ran. Answers a function that ends the listening.
   */
  on<E extends keyof Events>(event: E, listener: (event: Events[E]) => void): () => void;

  readonly jobs: Jobs;
  readonly deadLetters: DeadLetters;
  readonly workers: Workers;

  /** From the next claim on, nothing behind this gate starts. */
  pause(target: PauseTarget, reason: string): Promise<void>;
  resume(target: PauseTarget): Promise<void>;
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
  list(filter?: JobFilter): Promise<{ jobs: readonly JobView[]; next: string | null }>;
  /** A waiting job ends at once; a running one is asked to stop. */
  cancel(id: string, reason?: string): Promise<JobView>;
  /** A waiting job runs now. A finished one gets a linked successor that keeps phases and units. */
  retry(id: string): Promise<Enqueued<unknown>>;
  /** Ends a job as failed, with its dead letter; with `retry` it counts as a failed attempt. */
  fail(id: string, message: string, options?: { retry?: boolean }): Promise<JobView>;
  /** Takes a job away from a worker that is stuck with it. It is queued again, uncharged. */
  release(id: string): Promise<JobView>;
  /** Every run of a job so far, oldest first. */
  attempts(id: string): Promise<readonly AttemptView[]>;
  /** Why a job does not run, in one sentence. */
  explain(id: string): Promise<{ sentence: string; reason: string; until?: Date }>;
  /** How many jobs wait, run and have failed, and how long the oldest has waited. */
  stats(): Promise<JobStats>;
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
  list(filter?: DeadLetterFilter): Promise<readonly DeadLetter[]>;
  acknowledge(id: string, by: { actor: string; notes?: string }): Promise<void>;
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
