/** The client that `openMillrace` returns, and its options. */
import type { DeadLetters } from "./control/letters.ts";
import type { Duration } from "../core/duration.ts";
import type { Failures } from "./control/failures.ts";
import type { Preset } from "../core/presets.ts";
import type { Logger } from "./context.ts";
import type { JobContract, JobRequest } from "./contract.ts";
import type { Drained, DrainSettings, DrainTarget, RunningCount } from "./control/drain.ts";
import type { ActedBy, Audit } from "./control/audit.ts";
import type { Tenants } from "./control/tenants.ts";
import type { Intake } from "./control/intake.ts";
import type { Operations } from "./control/operations.ts";
import type { Enqueued, Finished, JobRef, PayloadArgs } from "./enqueue.ts";
import type { Events } from "./events.ts";
import type { Jobs } from "./jobs.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { StreamMessage, StreamOptions } from "./stream.ts";
import type { Schedules } from "./schedule.ts";
import type { PayloadRules } from "./control/payload-rules.ts";
import type { Fairness } from "./control/fairness.ts";
import type { About } from "./control/about.ts";
import type { Attention } from "./control/attention.ts";
import type { LaneOverview } from "./control/lanes.ts";
import type { Limits } from "./control/limits.ts";
import type { Tokens } from "./tokens.ts";
import type { Breakers } from "./services/breakers.ts";
import type { Types } from "./services/types.ts";
import type { SavedViews } from "./control/views.ts";
import type { AnyJob, Worker, WorkOptions } from "./worker.ts";

export type { Explanation, ExplanationDetails, ExplanationReason } from "./control/explanation.ts";
export type {
  DeadLetter,
  DeadLetters,
  FailedRunView,
  Reprocessed,
  ReviewView,
} from "./control/letters.ts";
export type { JobFilter } from "./control/job-filter.ts";
export type {
  AttemptView,
  GroupedJobStats,
  GroupName,
  JobPage,
  JobGroupStats,
  JobHold,
  Jobs,
  JobStats,
  JobView,
} from "./jobs.ts";

export interface OpenOptions {
  /**
   * The tenant of jobs that are enqueued without one. Default: `default`. All openers of a database
   * in one process share one tenant; opening the database with another tenant throws.
   */
  readonly tenant?: string;
  /**
   * A preset that replaces the default numbers, for jobs and workers. All openers of a database in
   * one process share one preset, like the tenant.
   */
  readonly preset?: Preset;
  /**
   * The logger of the library. Each method is called with a message and an object of fields.
   * Default: warnings to stderr. Each opener has its own logger.
   */
  readonly logger?: Logger;
}

export interface Millrace extends AsyncDisposable {
  /** Stores a job. The promise resolves when the job is durable. */
  enqueue<Input, R>(
    job: JobContract<string, Input, R>,
    ...args: PayloadArgs<NoInfer<Input>>
  ): Promise<Enqueued<R>>;

  /**
   * Stores many jobs and returns them in the order of the requests, each with the type of its
   * result. An invalid request is refused before anything is written. When the store refuses a
   * request, because its key belongs to a different job, the other requests are stored, and the
   * error lists all of them in `details.answers`, in the order of the requests:
   * `{ index, id, status: "created" | "existing" | "refused", code, holder? }`. A refused request
   * has `id: null`; the others have `code: null`.
   */
  enqueueMany<const T extends readonly JobRequest<unknown>[]>(
    requests: T,
  ): Promise<{ [I in keyof T]: T[I] extends JobRequest<infer R> ? Enqueued<R> : never }>;

  /**
   * Resolves with the final job, in any final state. Rejects with STORE_CLOSED when the mill is
   * closed first; closing does not end the job.
   */
  wait<R>(job: JobRef<R>, options?: WaitOptions): Promise<Finished<R>>;

  /**
   * Resolves with the result, or rejects with JOB_FAILED, whose `cause` is the error of the job, or
   * with JOB_CANCELLED.
   */
  result<R>(job: JobRef<R>, options?: WaitOptions): Promise<R>;

  /** Starts a worker in this process. */
  work<const J extends readonly AnyJob[]>(options: WorkOptions<J>): Worker;

  /**
   * Listens to events of the whole installation, which include the jobs of other processes. Events
   * are read from the durable feed. The returned function stops the listener. If a listener throws
   * or returns a rejected promise, the error is logged and later events are still delivered.
   *
   * The listener gets every event that this mill and its workers write after `on` has returned:
   * writes wait until the store has returned the end of its feed. If the store fails to do so
   * within five seconds, writes continue, and the listener gets the events that are committed after
   * the store has answered.
   *
   * Every event is delivered at least once, and the events of one job in order. An event carries
   * the data of the job at the time of delivery. If the job has been removed, the event carries
   * only its id.
   */
  on<E extends keyof Events>(event: E, listener: (event: Events[E]) => unknown): () => void;

  /**
   * The events of the installation, or of some jobs, as a web stream: the current state first, then
   * what changes, and a ping when nothing does. A stream continues behind the id of any message,
   * also in another process. Cancelling the reader ends the stream and leaves nothing behind.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const greet = defineJob({ type: "greet" });
   *
   * await using test = await createTestMill();
   * const reader = test.mill.stream({ type: "greet" }).getReader();
   * assert.equal((await reader.read()).value?.type, "snapshot");
   * await test.mill.enqueue(greet);
   * const { value } = await reader.read();
   * assert.ok(value?.type === "event" && value.event === "job:enqueued");
   * await reader.cancel();
   * ```
   */
  stream(options?: StreamOptions): ReadableStream<StreamMessage>;

  readonly jobs: Jobs;
  readonly deadLetters: DeadLetters;
  readonly failures: Failures;
  readonly operations: Operations;
  readonly workers: Workers;
  readonly tokens: Tokens;
  readonly metrics: Metrics;
  readonly schedules: Schedules;
  readonly types: Types;
  readonly breakers: Breakers;
  readonly limits: Limits;
  readonly fairness: Fairness;
  readonly lanes: LaneOverview;
  readonly intake: Intake;
  readonly audit: Audit;
  readonly payloadRules: PayloadRules;
  readonly views: SavedViews;
  readonly tenants: Tenants;

  /**
   * The kind and the name of the store, the version of Millrace, and what the workers of this
   * process remove.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * assert.deepEqual(test.mill.about().store, { kind: "sqlite", name: ":memory:" });
   * ```
   */
  about(): About;

  /**
   * What an operator should look at now: open breakers, new causes of failures, jobs that wait too
   * long, silent workers, schedules that make no jobs, and so on. The answer also says what was
   * checked and is well, and what could not be read within five seconds. Each read is bounded. The
   * mill of a tenant tells what concerns the tenant, and nothing about workers and services.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const { mill } = test;
   * assert.deepEqual((await mill.attention()).findings, []);
   *
   * await mill.enqueue(defineJob({ type: "email" }));
   * await test.advance("2m");
   * const { findings } = await mill.attention();
   * assert.equal(findings[0]?.sentence, "1 job waits, and no worker is running.");
   * ```
   */
  attention(): Promise<Attention>;

  /**
   * The same installation, limited to one tenant: jobs, dead letters and tokens of other tenants do
   * not exist for it, and new jobs belong to the tenant. An id of another tenant is answered as an
   * unknown id. What concerns all tenants, such as workers and pauses of types, is refused with
   * FORBIDDEN_TENANT.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const greet = defineJob({ type: "greet" });
   * const acme = test.mill.forTenant("acme");
   * const ours = await acme.enqueue(greet);
   * const theirs = await test.mill.enqueue(greet);
   *
   * assert.equal((await test.mill.jobs.get(ours.id)).tenant, "acme");
   * assert.deepEqual(await acme.jobs.count(), { count: 1, atLeast: false });
   * await assert.rejects(acme.jobs.get(theirs.id), { code: "JOB_NOT_FOUND" });
   * await assert.rejects(acme.pause({ type: "greet" }, "a bug"), { code: "FORBIDDEN_TENANT" });
   * ```
   */
  forTenant(tenant: string): TenantMillrace;

  /**
   * Pauses a lane, a type, a tenant, a service or the whole installation: later claims do not take
   * its jobs, and for a service the jobs of types that use it. A reason has up to 2,000 characters.
   */
  pause(target: PauseTarget, reason: string, by?: { actor: string }): Promise<void>;
  /** Ends a pause, and says whether there was one and how many jobs may run now. */
  resume(target: PauseTarget, by?: ActedBy): Promise<Resumed>;
  /** Lists the pauses, with the time, the reason, the person and the number of jobs behind each. */
  pauses(): Promise<readonly Pause[]>;
  /**
   * Pauses a target, or makes a worker quiet, and waits until no job of the target runs any more,
   * in no process. The target stays paused. A pause that exists keeps its reason and its person,
   * and the answer names it. Jobs that a worker has prefetched count as running.
   * Rejects with DRAIN_TIMED_OUT when jobs still run after `timeout`; `details` has their number
   * and the ids of some.
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
   * const { mill } = test;
   * await mill.drain({ type: "email" }, { reason: "a deploy" });
   *
   * const job = await mill.enqueue(email);
   * assert.equal((await mill.jobs.explain(job.id)).reason, "paused");
   * await mill.resume({ type: "email" });
   * await test.drain([email]);
   * assert.equal((await mill.jobs.get(job.id)).state, "completed");
   * ```
   */
  drain(target: DrainTarget, options?: DrainSettings): Promise<Drained>;
  /**
   * Counts the jobs of a target that run, or that a worker has prefetched. A target that was not
   * paused may start more at any time.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const { running, ids } = await test.mill.running({ installation: true });
   * assert.deepEqual([running, ids], [0, []]);
   * ```
   */
  running(
    target: DrainTarget,
    options?: { readonly claims?: readonly string[] },
  ): Promise<RunningCount>;
  /**
   * Stops the workers of this mill, rejects every pending `wait`, and closes the store unless
   * another opener in this process uses it. `close` may be called more than once. A handler must
   * not close the mill that runs it; the call throws CLOSE_FROM_WITHIN.
   */
  close(): Promise<void>;
}

/** A mill of one tenant. Workers belong to the mill that was opened, which also closes both. */
export type TenantMillrace = Omit<
  Millrace,
  "work" | "close" | "forTenant" | typeof Symbol.asyncDispose
>;

export interface WaitOptions {
  timeout?: Duration;
  signal?: AbortSignal;
}

export type PauseTarget =
  | { lane: string }
  | { type: string }
  | { tenant: string }
  | { service: string }
  /** All jobs, also those of lanes, types and tenants that do not exist yet. */
  | { installation: true };

/** A pause of a lane, a type, a tenant, a service or the installation. */
export interface Pause extends QueuedCount {
  readonly kind: "lane" | "type" | "tenant" | "service" | "installation";
  /** The name of the installation is `all`. */
  readonly name: string;
  readonly reason: string;
  readonly pausedBy: string | null;
  readonly pausedAt: Date;
  /** `null` means until `resume`. */
  readonly until: Date | null;
  /** The queued jobs of the target that another pause holds back as well. */
  readonly shared: number;
  /** True when not all of them were counted: there are at least so many. */
  readonly sharedAtLeast: boolean;
}

/** What `resume` did. */
export interface Resumed extends QueuedCount {
  /** False: the target was not paused, and nothing has changed. */
  readonly wasPaused: boolean;
}

export interface QueuedCount {
  /** The queued jobs of the target that no other pause holds back. */
  readonly queued: number;
  /** True when not all queued jobs were counted: there are at least so many. */
  readonly atLeast: boolean;
}

export interface Workers {
  list(): Promise<readonly WorkerView[]>;
  /** Makes a worker claim no more jobs. Its running jobs continue. */
  quiet(id: string, by?: ActedBy): Promise<void>;
  /**
   * Lets a quiet worker claim jobs again, from its next heartbeat on. A worker that has made itself
   * quiet with `worker.quiet()` stays so. Throws WORKER_STOPPING for a worker that is to stop.
   */
  resume(id: string, by?: ActedBy): Promise<void>;
  /**
   * Asks a worker to stop, in whichever process it runs. The worker claims no more jobs from now
   * on, and its next heartbeat stops it as `worker.stop()` does, with its own `grace`. Its process
   * goes on, except that of `millrace worker`, which ends. Throws WORKER_NOT_FOUND for an unknown
   * worker.
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
   * const { mill, advance } = test;
   * const worker = mill.work({ jobs: [email] });
   * await worker.ready;
   *
   * await mill.workers.stop(worker.id);
   * assert.equal((await mill.workers.list())[0]?.isStopping, true);
   *
   * await advance("2s");
   * assert.equal(await worker.ended, null);
   * assert.deepEqual(await mill.workers.list(), []);
   * ```
   */
  stop(id: string, by?: ActedBy): Promise<void>;
}

export interface WorkerView {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** The version of the application; `null` if `work` has named none. */
  readonly appVersion: string | null;
  readonly joinedAt: Date;
  /** False when two heartbeats are missing. */
  readonly isAlive: boolean;
  /** The time since the last heartbeat, by the clock of the store. */
  readonly heartbeatAgoMs: number;
  readonly isQuiet: boolean;
  /** It was asked to stop. Then it is quiet as well, and it disappears when it has stopped. */
  readonly isStopping: boolean;
  /** The types and lanes of the jobs it claims. The lane `general` claims jobs of any lane. */
  readonly types: readonly string[];
  readonly lanes: readonly string[];
  /** `null` means all tenants. */
  readonly tenant: string | null;
  /** The number of jobs it can run at once, and the number it runs now. */
  readonly slots: number;
  readonly running: number;
  /** The resident memory of its process; null before its first heartbeat. */
  readonly memoryBytes: number | null;
  /** The largest delay of its event loop between its last two heartbeats; null: not known yet. */
  readonly loopLagMs: number | null;
  /**
   * The database role whose session has taken a task in plain SQL. Such a worker holds one task and
   * is gone with it. `null` for a worker of `work`.
   */
  readonly takenBy: string | null;
}
