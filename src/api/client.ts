/** The client: what an application holds after it has opened Millrace. */
import type { Duration } from "../core/duration.ts";
import type { Fault } from "../core/outcome.ts";
import type { Preset } from "../core/presets.ts";
import type { Json } from "../core/payload.ts";
import type { Logger } from "./context.ts";
import type { JobContract, JobRequest } from "./contract.ts";
import type { Enqueued, Finished, JobRef, PayloadArgs } from "./enqueue.ts";
import type { Events } from "./events.ts";
import type { Jobs } from "./jobs.ts";
import type { AnyJob, Worker, WorkOptions } from "./worker.ts";

export type { AttemptView, Explanation, JobFilter, Jobs, JobStats, JobView } from "./jobs.ts";

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
   *
   * Whatever this mill and its workers write after `on` has returned is heard: it waits until the
   * store has said where its feed ends. If the store cannot say so, or not within five seconds,
   * nothing waits any longer, and the listener hears what is committed from the moment it can.
   *
   * An event is told at least once, what happened to one job in its order. It says what is true of
   * the job when it is told; of a job that is gone by then it says only the id.
   */
  on<E extends keyof Events>(event: E, listener: (event: Events[E]) => unknown): () => void;

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
