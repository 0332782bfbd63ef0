/**
 * Runs jobs alone that have crashed their workers too often to run beside other jobs, and probes of
 * types that are paused because of crashes.
 *
 * The worker claims such a job before its process is empty, so that one process of the fleet at a
 * time stops claiming. The job starts when the process has nothing else to do. If that takes too
 * long, the job goes back to the queue unstarted, and this process waits before it tries again.
 * A process in which a handler or unit ignores its signal leaves such jobs to other processes.
 */
import { within, type Clock } from "../../core/clock.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { JobKey, LoneClaim, LoneClaimRequest } from "../../store/types/jobs-and-runs.ts";
import { MARK_MS_MAX, type SettleUnbegun } from "../lanes/marked-jobs.ts";
import type { HostProcess } from "./host-process.ts";

/**
 * How long a process waits until it is empty. As long as the default time-out of a run: with the
 * default settings every process is empty within this time.
 */
export const EMPTY_MS_MAX = 1_200_000;
export const CANNOT_EMPTY: string =
  "a job that must run alone cannot run in this process, because a handler or unit that ignored " +
  "its signal still runs here; another process takes the job, or this one after a restart";
/** A process with runs leaves the job to an idle process for so many polls. */
const PATIENCE_POLLS = 2;

export interface LoneRunsParts {
  readonly store: Pick<
    JobStore,
    "claimAlone" | "startPrefetched" | "returnPrefetched" | "endCrashStreak"
  >;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly process: HostProcess;
  readonly request: LoneClaimRequest;
  readonly pollMs: number;
  /** False once no job may start in this worker. */
  readonly isOpen: () => boolean;
  readonly settleUnbegun: SettleUnbegun;
  /** Runs the job. Resolves with its success when the store has settled the run. */
  readonly run: (claim: LoneClaim) => Promise<boolean>;
}

export class LoneRuns {
  readonly #parts: LoneRunsParts;
  #current: Promise<void> | null = null;
  #cancelled = Promise.withResolvers<void>();
  readonly #stopped = Promise.withResolvers<void>();
  #isOver = false;
  /** The job that waits for an empty process, or runs. */
  #claim: LoneClaim | null = null;
  /** When a claim first reported a waiting job; null: the last claim reported none. */
  #wantedSince: number | null = null;
  #restUntil = -Infinity;
  /** The log has the warning about code that keeps this process from being empty. */
  #hasWarned = false;

  constructor(parts: LoneRunsParts) {
    this.#parts = parts;
  }

  /**
   * A new process is empty: a waiting job runs alone before any other job begins. Otherwise a
   * process that is killed again and again by new jobs would never find out which jobs kill it.
   */
  async begin(): Promise<void> {
    if (!this.#parts.process.isIdle) return;
    await this.#takeTurn();
  }

  /** Called after claims: whether a job waits that must run alone. */
  report(isWanted: boolean): void {
    if (!isWanted) {
      this.#wantedSince = null;
      return;
    }
    const { clock, process, pollMs } = this.#parts;
    const now = clock.monotonic();
    this.#wantedSince ??= now;
    if (this.#isOver || this.#current !== null || process.isReserved) return;
    if (now < this.#restUntil || !this.#mayEmpty()) return;
    if (!process.isIdle && now - this.#wantedSince < PATIENCE_POLLS * pollMs) return;
    void this.#takeTurn();
  }

  /** False while code that ignores its signal runs here: the process would not become empty. */
  #mayEmpty(): boolean {
    const { logger, process } = this.#parts;
    const isHindered = process.hasCodeLeft;
    if (isHindered && !this.#hasWarned) logger.warn(CANNOT_EMPTY, {});
    this.#hasWarned = isHindered;
    return !isHindered;
  }

  #takeTurn(): Promise<void> {
    this.#current = this.#next().finally(() => {
      this.#current = null;
    });
    return this.#current;
  }

  /** The worker takes no new work: a job that has not started goes back to the queue. */
  cancel(): void {
    this.#cancelled.resolve();
  }

  /** An operator has cancelled or ended these runs: a job that waits is given up. */
  cancelRuns(runs: readonly { readonly key: JobKey; readonly n: number }[]): void {
    const job = this.#claim?.job;
    if (runs.some(({ key, n }) => key === job?.key && n === job.n)) this.cancel();
  }

  /** The same for good. Resolves when the job has gone back, or its run has ended. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#stopped.resolve();
    this.cancel();
    await this.#current;
  }

  /** The worker has stopped, perhaps without a handler that ignores its signal. */
  end(): void {
    if (this.#claim !== null) this.#parts.process.reopen(this);
  }

  async #next(): Promise<void> {
    const { store, clock, logger, request, pollMs } = this.#parts;
    const began = clock.monotonic();
    let restMs = pollMs;
    // Before the claim: the worker may be asked to stop while the store answers.
    this.#cancelled = Promise.withResolvers();
    try {
      const claim = await store.claimAlone(request);
      if (claim === null) return;
      this.#claim = claim;
      const wasEmpty = await this.#runReserved(claim);
      if (!wasEmpty) restMs = Math.max(pollMs, clock.monotonic() - began);
    } catch (error) {
      logger.error("cannot run a job alone; trying again", { error });
    } finally {
      this.#claim = null;
      this.#restUntil = clock.monotonic() + restMs;
    }
  }

  /** False: the process did not become empty. */
  async #runReserved(claim: LoneClaim): Promise<boolean> {
    const { clock, logger, process, store } = this.#parts;
    const { job, isProbe } = claim;
    if (!this.#mayStart()) {
      await this.#giveBack(claim);
      return false;
    }
    logger.info("the process is emptied for a job that runs alone", fieldsOf(claim));
    try {
      const emptied = Promise.race([process.empty(this), this.#cancelled.promise]);
      await within(clock, EMPTY_MS_MAX, emptied);
      if (!process.isIdle || !this.#mayStart()) {
        await this.#giveBack(claim);
        return false;
      }
      const at = clock.monotonic();
      if (!(await this.#start(claim))) return true;
      // The time of the run began with the first try that reached the store.
      if (clock.monotonic() - at >= MARK_MS_MAX) {
        this.#parts.settleUnbegun(claim.lease, job, { type: "interrupted" });
        return true;
      }
      const hasSucceeded = await this.#parts.run(claim);
      if (isProbe && hasSucceeded) await store.endCrashStreak(job.type);
      return true;
    } finally {
      process.reopen(this);
    }
  }

  #mayStart(): boolean {
    return !this.#isOver && this.#parts.isOpen();
  }

  /** False: the job was cancelled, or the lease of the worker is lost. */
  async #start({ lease, job }: LoneClaim): Promise<boolean> {
    const { store } = this.#parts;
    const answer = await this.#insist("start", () => store.startPrefetched(lease, [job.key]));
    return answer?.begun.includes(job.key) === true;
  }

  async #giveBack({ lease, job }: LoneClaim): Promise<void> {
    const { store } = this.#parts;
    await this.#insist("return", () => store.returnPrefetched(lease, [job.key]));
  }

  /**
   * Repeats until the store answers: only this worker can start or return the job, and meanwhile no
   * other job of the fleet runs alone. Null: the worker has stopped, and a rescue returns the job.
   */
  async #insist<Answer>(what: string, call: () => Promise<Answer>): Promise<Answer | null> {
    const { clock, logger, pollMs } = this.#parts;
    for (;;) {
      try {
        return await call();
      } catch (error) {
        logger.error(`cannot ${what} a job that runs alone; trying again`, { error });
        if (this.#isOver) return null;
        await within(clock, pollMs, this.#stopped.promise);
      }
    }
  }
}

function fieldsOf({ job, isProbe }: LoneClaim): object {
  return { job_id: job.id, type: job.type, crashes: job.crashes, probe: isProbe };
}
