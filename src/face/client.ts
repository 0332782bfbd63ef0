/** The client: what an application holds after it has opened Millrace. */
import type { Duration } from "../core/duration.ts";
import type { State } from "../core/job.ts";
import type { Fault } from "../core/outcome.ts";
import type { Json } from "../core/payload.ts";
import type { Store } from "../store/store.ts";
import type { Logger } from "./context.ts";
import type { JobContract, JobRequest } from "./contract.ts";
import type { Enqueued, Finished, JobRef, PayloadArgs } from "./enqueue.ts";
import type { Events } from "./events.ts";
import type { AnyJob, Worker, WorkOptions } from "./worker.ts";

/** Without a store: `MILLRACE_DATABASE_URL`, else `sqlite:./millrace.db`. */
export type OpenMillrace = (store?: string | Store, options?: OpenOptions) => Promise<Millrace>;

export interface OpenOptions {
  tenant?: string;
  logger?: Logger;
  webhookUrl?: string;
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
  readonly breakers: Breakers;

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
  get(id: string): Promise<JobView>;
  list(filter?: JobFilter): Promise<{ jobs: readonly JobView[]; next: string | null }>;
  cancel(id: string, reason?: string): Promise<JobView>;
  /** A waiting job runs now. A finished one gets a linked successor that keeps phases and units. */
  retry(id: string): Promise<Enqueued<unknown>>;
  fail(id: string, message: string, options?: { retry?: boolean }): Promise<JobView>;
  /** Why a job does not run, in one sentence. */
  explain(id: string): Promise<{ sentence: string; reason: string; until?: Date }>;
}

export interface DeadLetters {
  list(filter?: object): Promise<readonly DeadLetter[]>;
  acknowledge(id: string, by: { actor: string; notes?: string }): Promise<void>;
  reprocess(
    id: string,
    by: { actor: string; notes?: string; payload?: Json },
  ): Promise<Enqueued<unknown>>;
  discard(id: string, by: { actor: string; notes?: string }): Promise<void>;
}

export interface Breakers {
  reset(service: string): Promise<void>;
  forceOpen(service: string, reason: string): Promise<void>;
}

export interface JobView {
  readonly id: string;
  readonly type: string;
  readonly state: State;
  readonly payload: Json;
  readonly progress: number;
}

export interface JobFilter {
  state?: State | readonly State[];
  type?: string;
  tenant?: string;
  correlationId?: string;
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
}
