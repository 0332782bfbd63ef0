/** What a worker does: it registers, claims, runs, settles, and takes over from dead workers. */
import type {
  Claim,
  ClaimRequest,
  JobKey,
  Lease,
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
} from "../types/jobs-and-runs.ts";
import type { AcquiredLocks, Checkpoints, NoteAnswer, OpenRun, RunNote } from "../types/notes.ts";
import type { Promotion } from "../types/records.ts";

export interface WorkerStore {
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
}
