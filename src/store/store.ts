/**
 * The store port: the durable side of the house.
 *
 * Each verb is one transaction, named after what happens to the job, and says in its answer what
 * really happened. No verb waits for work and none decides about retries: settlements come
 * ready-made from `core/settle.ts`. Two rules hold for all of them:
 *
 * - **The store's clock** decides what is due and what has expired. Callers hand in lengths
 *   (`delayMs`, `leaseMs`), never their own idea of now.
 * - **The lease fences.** What a worker writes about a running job is accepted only while its lease
 *   stands and the job has no ledger row for that run; otherwise the answer is `stale` and nothing
 *   changes.
 *
 * A behaviour that is not in `test/conformance/` does not exist.
 */
import type { JobId } from "../core/job.ts";
import type { Settlement } from "../core/outcome.ts";
import type {
  Claim,
  ClaimRequest,
  CrashFacts,
  EnqueueAnswer,
  JobKey,
  Lease,
  NewJob,
  OverdueRun,
  Renewal,
  Rescue,
  RescueRequest,
  SettleAnswer,
  SettleItem,
  SilentWorker,
  ThreadEntry,
  WorkerId,
  WorkerInfo,
} from "./types/jobs-and-runs.ts";
import type {
  Checkpoints,
  JobProgress,
  LogRecord,
  NoteAnswer,
  AcquiredLocks,
  OpenRun,
  RunNote,
  UnitFilter,
  UnitHolder,
  UnitName,
  UnitRecord,
} from "./types/notes.ts";
import type {
  AttemptRecord,
  CancelAnswer,
  DeadLetter,
  DeadLetterFilter,
  EventKind,
  FeedEntry,
  Gate,
  GateName,
  InterveneAnswer,
  JobRecord,
  ListFilter,
  Listing,
  ExpiredJobs,
  ExpiredPage,
  Page,
  Periods,
  Promotion,
  Pruned,
  ReprocessAnswer,
  Retention,
  Review,
  ReviewAnswer,
  Stats,
  WorkerRecord,
} from "./types/records.ts";

export type {
  Checkpoints,
  JobProgress,
  LogLevel,
  LogLine,
  LogRecord,
  NoteAnswer,
  NoteBody,
  AcquiredLocks,
  OpenRun,
  PhaseResult,
  RunNote,
  RunProgress,
  UnitCount,
  UnitEnd,
  UnitFilter,
  UnitHolder,
  UnitMove,
  UnitName,
  UnitRecord,
} from "./types/notes.ts";
export { LOG_CHARS_MAX, LOG_LINES_MAX, MOVES_MAX, UNITS_MAX } from "./types/notes.ts";
export { AFTER_MAX } from "./types/jobs-and-runs.ts";
export type {
  Claim,
  ClaimRequest,
  ClaimedJob,
  CrashFacts,
  EnqueueAnswer,
  JobKey,
  Lease,
  NewJob,
  OverdueRun,
  Renewal,
  Refusal,
  RefusedChild,
  RefusedJob,
  Rescue,
  RescueRequest,
  SettleAnswer,
  SettleItem,
  SilentWorker,
  ThreadEntry,
  WorkerId,
  WorkerInfo,
} from "./types/jobs-and-runs.ts";
export type {
  AttemptRecord,
  CancelAnswer,
  DeadLetter,
  DeadLetterFilter,
  EndPlace,
  EventKind,
  FeedEntry,
  Gate,
  GateName,
  HeldBy,
  InterveneAnswer,
  JobFacts,
  JobRecord,
  ListFilter,
  Listing,
  ExpiredJobs,
  ExpiredPage,
  Page,
  Periods,
  PhaseDetail,
  ProgressDetail,
  Promotion,
  Pruned,
  ReprocessAnswer,
  Retention,
  Review,
  ReviewAnswer,
  Stats,
  WorkerRecord,
} from "./types/records.ts";

/** A store as users hold it: made by `sqliteStore()`, handed to `openMillrace()`. */
export interface Store {
  readonly "~store": true;
}

// ── The port ─────────────────────────────────────────────────────────────────────────────────────

export interface JobStore extends Store {
  /** Opens and migrates. Every other verb before it, or after `close`, is refused. */
  open(): Promise<void>;
  /** Lets accepted writes finish, then closes. Harmless when repeated. */
  close(): Promise<void>;

  /**
   * Resolves once the jobs are durable. Overlapping calls share one commit. The jobs of one call
   * come to be in the order given, also where that decides who takes a key or is claimed first. One
   * that the database does not take is refused by itself.
   */
  enqueue(jobs: readonly NewJob[]): Promise<readonly EnqueueAnswer[]>;
  /**
   * Writes the jobs in a transaction that the caller has open on the same database: they are there
   * if and when it commits, and nobody is woken. What is no such transaction is refused. When the
   * database does not take one of the jobs, the call is rejected with STORE_REFUSED and nothing of
   * it is left; if one of them has a key, the transaction stays as it was and can go on.
   */
  enqueueInTransaction(tx: unknown, jobs: readonly NewJob[]): Promise<readonly EnqueueAnswer[]>;

  /** Makes a worker known and gives it its first lease. Joining again renews it. */
  register(worker: WorkerInfo): Promise<void>;
  /** The worker is gone on purpose. What it still holds can be rescued at once. */
  deregister(worker: WorkerId): Promise<void>;
  /** Extends the worker's lease and tells what was asked of it meanwhile. */
  renew(worker: WorkerId, leaseMs: number): Promise<Renewal>;

  /**
   * Takes due jobs in order of priority, due time and age; never more than asked, none twice. A
   * quiet worker is given nothing.
   */
  claim(request: ClaimRequest): Promise<Claim>;
  /**
   * How many claims of one worker should be on their way at the same time: one, where the caller
   * has to stand still meanwhile.
   */
  readonly claimsAtOnce: number;
  /**
   * Begins jobs of a prefetch. `begun` are those that the worker may now run; one that somebody
   * asked to cancel ends here instead. Harmless when repeated.
   */
  startPrefetched(
    lease: Lease,
    keys: readonly JobKey[],
  ): Promise<{ readonly status: "started" | "stale"; readonly begun: readonly JobKey[] }>;
  /** Unstarted jobs of a prefetch go back to their place, uncharged. Answers how many did. */
  returnPrefetched(lease: Lease, keys: readonly JobKey[]): Promise<number>;
  /** The one door out of `running`. One answer per item, in the order asked. */
  settle(items: readonly SettleItem[]): Promise<readonly SettleAnswer[]>;

  /**
   * Keeps what running jobs say about themselves. One answer per note, in the order asked; notes of
   * one run are kept in their order. Overlapping calls share one commit. Notes that only tell
   * progress, or log, need not wait for the disk.
   */
  record(notes: readonly RunNote[]): Promise<readonly NoteAnswer[]>;
  /**
   * Takes exclusive names for a run, within its tenant: those of its units. A name is had by at
   * most one job at a time, be it this way or as the concurrency key of a job that was claimed; a
   * run has its names until a note gives them up, or until it ends, however it ends. Answers the
   * names that the run has now, of those asked for. Harmless when repeated.
   */
  acquireLocks(run: OpenRun, names: readonly string[]): Promise<AcquiredLocks>;
  /** What earlier runs of a job have left; of a successor also those of the job it repeats. */
  checkpoints(key: JobKey): Promise<Checkpoints>;

  /**
   * Runs of a worker that have overrun their time limit by more than `slackMs`. Its heartbeat ends
   * them when the worker itself is too busy to warning.
   */
  overdue(worker: WorkerId, slackMs: number): Promise<readonly OverdueRun[]>;
  /** How another thread of this process opens the same store; `null` where none can. */
  readonly thread: ThreadEntry | null;

  /** Workers whose lease has run out, longest silent first. */
  silent(limit: number): Promise<readonly SilentWorker[]>;
  /** Takes the jobs of a silent worker back, through the same door as settle. */
  rescue(request: RescueRequest): Promise<Rescue>;

  /** Moves due jobs from `scheduled` to `queued`. */
  promote(limit: number): Promise<Promotion>;
  /** Ends a waiting job, or asks the worker of a running one to stop. */
  cancel(id: JobId, by: string | null, reason: string | null): Promise<CancelAnswer>;

  /**
   * Makes a waiting job due now, keeping its priority. `final` and `running` jobs stay as they are.
   */
  hurry(id: JobId): Promise<InterveneAnswer | { readonly status: "running" }>;
  /**
   * An operator ends a run, or a wait, in the worker's place: through the settle door, whoever
   * holds the job. What its worker says later is stale.
   */
  intervene(id: JobId, decide: (job: CrashFacts) => Settlement): Promise<InterveneAnswer>;

  /** Closes a gate: from the next claim on, nothing behind it starts. */
  pause(
    gate: GateName,
    why: { readonly reason: string; readonly by: string | null; readonly forMs?: number },
  ): Promise<void>;
  /** Opens a gate. `release` brings back what `hold` had moved away. */
  resume(gate: GateName): Promise<void>;
  gates(): Promise<readonly Gate[]>;
  /**
   * Moves waiting jobs behind closed gates, and those whose concurrency key is taken, out of the
   * way of the claim. Answers how many.
   */
  hold(limit: number): Promise<number>;
  /** Moves held jobs whose gate or key is free again back to where they are claimed. */
  release(limit: number): Promise<number>;
  /**
   * Lets jobs go on that waited for others (`after`) which are all final now, and cancels those
   * that one of them has failed. Ends do the same for the jobs that wait for them, so this finds
   * only what was missed. Answers how many jobs have moved.
   */
  resolveDependencies(limit: number): Promise<number>;

  get(id: JobId): Promise<JobRecord | null>;
  attempts(id: JobId): Promise<readonly AttemptRecord[]>;
  /** How far a job has come; null when there is no such job. */
  progress(id: JobId): Promise<JobProgress | null>;
  /** Units of a job, in the order of phase and unit; `after` is the last of the page before. */
  units(
    id: JobId,
    filter: UnitFilter,
    page: { readonly after?: UnitName; readonly limit: number },
  ): Promise<readonly UnitRecord[]>;
  /** Running jobs that work on a unit of this name just now (000-32). */
  unitHolders(unit: string, limit: number): Promise<readonly UnitHolder[]>;
  /** Lines of a job's log, oldest first: those that follow the line `after`, else the newest. */
  logs(
    id: JobId,
    page: { readonly after?: number; readonly limit: number },
  ): Promise<readonly LogRecord[]>;
  /** The jobs that a job runs after, and that are not final yet. */
  openDependencies(id: JobId, limit: number): Promise<readonly JobId[]>;
  /** Who has an exclusive name or concurrency key of a tenant just now. */
  lockHolder(tenant: string, name: string): Promise<JobId | null>;
  list(filter: ListFilter, page: Page): Promise<Listing>;
  /** Counts up to `max` and stops there. */
  count(filter: ListFilter, max: number): Promise<number>;
  deadLetter(id: JobId): Promise<DeadLetter | null>;
  /** Newest first. `after` is the id of the last letter of the page before. */
  deadLetters(
    filter: DeadLetterFilter,
    page: { readonly after?: JobId; readonly limit: number },
  ): Promise<readonly DeadLetter[]>;
  review(id: JobId, review: Review): Promise<ReviewAnswer>;
  /** Enqueues the successor and closes the letter, both or neither. */
  reprocess(
    id: JobId,
    successor: NewJob,
    by: string,
    notes: string | null,
  ): Promise<ReprocessAnswer>;
  workers(limit: number): Promise<readonly WorkerRecord[]>;
  /**
   * Asks a worker to take no new work: its claims give nothing from now on, and its next renewal
   * tells it why. Answers whether it is known.
   */
  quiet(worker: WorkerId): Promise<boolean>;
  stats(max: number): Promise<Stats>;
  /** The position of the last entry so far. */
  feedEnd(): Promise<number>;
  /**
   * What happened after `position`, oldest first. Entries of the kinds in `about` come with the
   * facts of their jobs, as they are now, looked up for the whole page at once.
   */
  feed(
    position: number,
    limit: number,
    about?: ReadonlySet<EventKind>,
  ): Promise<readonly FeedEntry[]>;

  /**
   * Removes what has expired its retention, oldest first, at most `limit` of each kind. A job that
   * a lease still names, or that others wait for, is passed over. What the feed is told here stays
   * until the next call, even if no entry is to be kept.
   */
  prune(retention: Retention, limit: number): Promise<Pruned>;
  /**
   * The next page of a sweep over final jobs that have expired their period, longest ended first.
   * Passes over the same jobs as `prune`, and looks at so many in one call: a page may be empty
   * before the end. What was answered and is neither marked nor removed comes again in the next
   * sweep, not in this one.
   */
  expired(periods: Periods, page: ExpiredPage): Promise<ExpiredJobs>;
  /** Marks final jobs as stale, and tells the feed of each the first time. Answers how many. */
  markStale(keys: readonly JobKey[]): Promise<number>;
  /** Removes jobs of {@link expired} as `prune` does. Answers how many. */
  remove(keys: readonly JobKey[], retention: Retention): Promise<number>;

  /**
   * Calls `listener` when something has happened to some job, by this process or by another. A
   * wake-up: it may come for nothing.
   */
  watch(listener: (wakeUp: WakeUp) => void): () => void;
  /** Tells once what an operator should know, such as that wake-ups do not come through. */
  onWarning?(listener: (warning: string) => void): void;
}

/** Most jobs that one claim takes, one lease holds, and the worker settles at once. */
export const BATCH_MAX = 500;

/**
 * The protocol that this release speaks with a store. A migration that workers of older releases
 * cannot live with raises the least one that the store accepts.
 */
export const PROTOCOL = 2;

/**
 * `work`: something may have come to be claimed or to fall due. `ready`: to be claimed, and nothing
 * else. `news`: the feed has grown.
 */
export type WakeUp = "work" | "ready" | "events";
