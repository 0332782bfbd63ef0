/**
 * What a worker does: it registers, claims, runs, settles, and rescues the jobs of dead workers.
 */
import type {
  Claim,
  ClaimRequest,
  CodeReport,
  JobKey,
  Lease,
  LoneClaim,
  LoneClaimRequest,
  OverdueRun,
  Renewal,
  RescueAnswer,
  RescueRequest,
  SettleAnswer,
  SettleItem,
  SilentWorker,
  ThreadEntry,
  WorkerId,
  WorkerInfo,
  WorkerVitals,
} from "../types/jobs-and-runs.ts";
import type { JsonText } from "../../core/job.ts";
import type { PermitCount } from "../../core/control/permits.ts";
import type { DeclaredFairness, TurnsAnswer } from "../types/fairness.ts";
import type { DeclaredLimit } from "../types/limits.ts";
import type { AcquiredLocks, Checkpoints, NoteAnswer, OpenRun, RunNote } from "../types/notes.ts";
import type { Promotion } from "../types/records.ts";
import type {
  CallAnswer,
  CallLimits,
  CallReport,
  ProbeClaim,
  ReportAnswer,
  ServiceCall,
  TypeDeclaration,
} from "../types/services.ts";

export interface WorkerStore {
  /** Registers a worker and gives it its first lease. Registering again renews the lease. */
  register(worker: WorkerInfo): Promise<void>;
  /**
   * Stores what a registered worker says about its types, for producers and operators. Of several
   * workers, the declaration of the last one stays. What this worker declares is known until it is
   * deregistered or rescued. Safe to repeat.
   */
  declareTypes(worker: WorkerId, types: readonly TypeDeclaration[]): Promise<void>;
  /** The worker has stopped. Jobs that it still holds can be rescued at once. */
  deregister(worker: WorkerId): Promise<void>;
  /**
   * Extends the worker's lease. Answers the cancel requests for its jobs, the ended runs whose end
   * of code it has not reported, and whether it is asked to be quiet or to stop. `lost`: the
   * worker is not registered. What is not known of the vitals stays as it was.
   */
  renew(worker: WorkerId, leaseMs: number, vitals?: WorkerVitals | null): Promise<Renewal>;
  /**
   * Notes which ended runs of the worker have code that goes on (`left`), and of which runs no code
   * is left (`ended`). A job that repeats such a job, directly or through others, waits until the
   * code has ended, or until the worker is deregistered or rescued. Code is `left` before the run
   * is settled. A run that an operator ends is left until the worker reports its end. Safe to
   * repeat.
   */
  reportCode(worker: WorkerId, report: CodeReport): Promise<void>;
  /**
   * Takes due jobs under a new lease, ordered by priority, due time and age. Never takes more than
   * `limit`, and no job twice. The concurrency key of the job that `claimAlone` would take is left
   * to it: only more urgent jobs take the key. A quiet worker gets nothing.
   *
   * A job is taken only if each limit that applies to it has a permit left: a free permit of the
   * worker, or one that no worker holds, which is then granted to this worker.
   *
   * In a fair lane, jobs with a turn come before the others of their priority, in the order of
   * their turns. With `olderThanMs`, if the job of the lanes that has been due longest has waited
   * longer than that, only jobs of its lane and priority are taken.
   */
  claim(request: ClaimRequest): Promise<Claim>;
  /**
   * Takes a job that must run alone: the most urgent job of a type whose gate is closed because of
   * crashes and whose probe is due, else the most urgent job with at least `cap` crashes. Of
   * several types, the one whose probe was due first. The wait for the next probe begins with this
   * claim.
   * Null: there is none, a process of the fleet has such a job already, or the worker may not
   * claim. The job has not started. It starts with `startPrefetched`, or goes back with
   * `returnPrefetched`.
   */
  claimAlone(request: LoneClaimRequest): Promise<LoneClaim | null>;
  /**
   * Takes a job as the probe of services: the most urgent one that waits for nothing but breakers
   * that are open and whose probe is due, or whose probe has ended without a verdict. These
   * breakers are half-open from now on, and their probe is the run of the job. Jobs with `cap`
   * crashes or more run alone, and are no probes. Null: there is no such job, or the worker may not
   * claim. The run has started, as by `claim`.
   */
  claimProbe(request: LoneClaimRequest): Promise<ProbeClaim | null>;
  /**
   * Whether runs may call services now. One answer per call, in the order given. If the probe of a
   * service is due, the first run that asks is the probe from now on. Nothing is written otherwise.
   */
  callServices(calls: readonly ServiceCall[]): Promise<readonly CallAnswer[]>;
  /**
   * Feeds the breakers of services with the results of calls. One answer per report, in the order
   * given. Concurrent reports about a service are applied one after the other. Successes that do
   * not change the breaker write nothing.
   */
  reportCalls(reports: readonly CallReport[]): Promise<readonly ReportAnswer[]>;
  /**
   * Calls a function of the application that is registered in the database, with the rights of the
   * role of this store. The payload and the answer are JSON. The call is a transaction of its own,
   * and is repeated if its answer was lost. Throws FUNCTION_UNKNOWN, on SQLite for every name, and
   * FUNCTION_FAILED if the function raises or exceeds its time. An abort cancels the call.
   */
  runFunction(name: string, payload: JsonText, limits?: CallLimits): Promise<JsonText>;
  /**
   * A probe of this type has succeeded: forgets the jobs of the type that died alone, and opens the
   * gate that they have closed. A pause of an operator stays.
   */
  endCrashStreak(type: string): Promise<void>;
  /**
   * How many claims of one worker may run at the same time. One, where a claim blocks the event
   * loop.
   */
  readonly claimsAtOnce: number;
  /**
   * Starts prefetched jobs. `begun` are the jobs that the worker may run now. A job with a cancel
   * request is cancelled instead. Safe to repeat. `stale`: the lease has ended.
   */
  startPrefetched(
    lease: Lease,
    keys: readonly JobKey[],
  ): Promise<{ readonly status: "started" | "stale"; readonly begun: readonly JobKey[] }>;
  /**
   * Returns prefetched jobs that have not started to their place, without charging an attempt.
   * Answers how many were returned.
   */
  returnPrefetched(lease: Lease, keys: readonly JobKey[]): Promise<number>;
  /**
   * Ends runs. Every started run ends this way: `rescue` and `intervene` share the code of settle.
   * One answer per item, in the order given. `stale`: the lease or the run has ended already;
   * nothing changes. If the installation has moved, STORE_MOVED is thrown instead.
   */
  settle(items: readonly SettleItem[]): Promise<readonly SettleAnswer[]>;
  /**
   * Stores notes about running jobs. One answer per note, in the order given. Notes of one run are
   * stored in their order. Overlapping calls share one commit. Notes with nothing but progress or
   * log lines need not wait for the disk.
   */
  record(notes: readonly RunNote[]): Promise<readonly NoteAnswer[]>;
  /**
   * Acquires locks for a run, by name and within its tenant. At most one run holds a lock at a
   * time, whether it was acquired here or as the concurrency key of a claimed job. The run holds
   * its locks until a note releases them or the run ends, however it ends. Answers which of the
   * given locks the run holds now. Safe to repeat.
   */
  acquireLocks(run: OpenRun, names: readonly string[]): Promise<AcquiredLocks>;
  /**
   * The stored results of earlier runs of a job. A successor that has taken over checkpoints also
   * finds those.
   */
  checkpoints(key: JobKey): Promise<Checkpoints>;
  /**
   * Runs of a worker that exceed their time limit by more than `slackMs`. The heartbeat thread ends
   * these runs when the event loop of the worker is too busy to do so.
   */
  overdue(worker: WorkerId, slackMs: number): Promise<readonly OverdueRun[]>;
  /** How another thread of this process opens the same store; null where no thread can. */
  readonly thread: ThreadEntry | null;
  /** Workers whose lease has expired, longest silent first. */
  silent(limit: number): Promise<readonly SilentWorker[]>;
  /**
   * Takes the jobs of a silent worker back. Started jobs are settled by `decide`; prefetched jobs
   * are returned. Does nothing if the worker has renewed its lease meanwhile. When the third job of
   * a type has died alone without a success of the type in between, the gate of the type is closed,
   * unless an operator has closed it. It opens by `endCrashStreak`, or by `resume`. `pause` and
   * `resume` of a type forget its deaths.
   */
  rescue(request: RescueRequest): Promise<RescueAnswer>;
  /**
   * Notes that the worker holds these permits and no others. The call never raises what the store
   * has noted. Other workers get the rest. No claim of the worker may be under way. False: an
   * earlier claim may still have jobs for the worker, and nothing has changed; ask again later.
   */
  keepPermits(worker: WorkerId, permits: readonly PermitCount[]): Promise<boolean>;
  /**
   * Stores the limits that the code of these types states, and forgets those that it states no
   * more. A limit that an operator has set stays.
   */
  declareLimits(limits: readonly DeclaredLimit[]): Promise<void>;
  /**
   * Stores which of these lanes the code of a worker states to be fair, with the weights, and
   * forgets what code has stated about the others. What an operator has set stays.
   */
  declareFairness(lanes: readonly DeclaredFairness[]): Promise<void>;
  /**
   * Gives turns to queued jobs of fair lanes: claims take them in the order of the turns, in which
   * tenants have shares by their weights. Jobs without a turn come after those with one, in the
   * order of their due times. Jobs for which this is fair get none, and neither do jobs that have
   * crashed before. Looks at the oldest `limit` jobs, and at jobs of tenants that have few of them.
   * A lane in which another process gives turns is left to that process. A turn ends when the job
   * leaves the queue.
   */
  giveTurns(limit: number): Promise<TurnsAnswer>;
  /** Moves due jobs from `scheduled` to `queued`. */
  promote(limit: number): Promise<Promotion>;
  /**
   * Moves waiting jobs that are behind a closed gate, whose concurrency key is taken, or of which a
   * limit is used up, out of the range that claims scan. Answers how many. Claims take jobs of a
   * limit from there, as soon as the limit has a permit left.
   */
  hold(limit: number): Promise<number>;
  /** Returns held jobs whose gate is open, or whose key is free again. Answers how many. */
  release(limit: number): Promise<number>;
  /**
   * Queues jobs whose dependencies (`after`) are all final, and cancels jobs with a failed
   * dependency. The end of a run does the same for its own dependants, so this finds only what was
   * missed. Answers how many jobs have moved.
   */
  resolveDependencies(limit: number): Promise<number>;
}
