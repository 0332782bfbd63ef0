/**
 * The permits of a worker: what it needs of the limits to run jobs.
 *
 * Claims bring permits, each job uses its own until its handler has ended, and the next claim gets
 * the free ones. Permits that stay free for {@link IDLE_MS} go back to the store, and so do the
 * next free ones of a limit that other workers want. An installation without limits pays nothing.
 */
import { PermitBook, type LimitId, type PermitCount } from "../../core/control/permits.ts";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { ClaimedJob, JobKey, WorkerId } from "../../store/types/jobs-and-runs.ts";
import type { ClaimPermits } from "../../store/types/limits.ts";

/** How long a worker keeps permits that it does not use. */
const IDLE_MS = 250;
/** After a call that failed. */
const RETRY_MS = 1_000;

export interface PermitsParts {
  readonly store: JobStore;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly logger: Logger;
  readonly worker: WorkerId;
  /** A job of a limit that was used up may be claimable now. */
  readonly onRoom: () => void;
}

/** The verbs that take and return permits. */
export type PermitStore = Pick<
  JobStore,
  "claim" | "claimAlone" | "claimProbe" | "claimsAtOnce" | "startPrefetched" | "returnPrefetched"
>;

export class Permits {
  readonly #parts: PermitsParts;
  #book = new PermitBook();
  /**
   * The limits of runs, by job and number of the run: a job that an operator has returned may be
   * claimed again while its earlier run has not ended.
   */
  readonly #limitsOf = new Map<JobKey, readonly LimitedRun[]>();
  /** Limits of which the last claim could take no job. */
  #full: ReadonlySet<LimitId> = new Set();
  /** A claim has named a limit: before that, there is nothing to tell. */
  #isLimited = false;
  #claims = 0;
  #claimsEnded = Promise.withResolvers<void>();
  #keeping: Promise<void> | null = null;
  #stopTimer: (() => void) | null = null;
  #stopToken: (() => void) | null = null;
  #isStopped = false;

  constructor(parts: PermitsParts) {
    this.#parts = parts;
  }

  /** The verbs of the store that a lane calls, with the permits of the worker. */
  get store(): PermitStore {
    const { store } = this.#parts;
    return {
      claimsAtOnce: store.claimsAtOnce,
      claim: (request) =>
        this.#claim(
          (permits) => store.claim({ ...request, ...permits }),
          ({ jobs, permits }) => ({ jobs, permits, granted: permits?.granted ?? [] }),
        ),
      claimAlone: (request) =>
        this.#claim(
          (permits) => store.claimAlone({ ...request, ...permits }),
          (claim) => ({ jobs: claim === null ? [] : [claim.job], granted: claim?.granted ?? [] }),
        ),
      claimProbe: (request) =>
        this.#claim(
          (permits) => store.claimProbe({ ...request, ...permits }),
          (claim) => ({ jobs: claim === null ? [] : [claim.job], granted: claim?.granted ?? [] }),
        ),
      startPrefetched: async (lease, keys) => {
        const answer = await store.startPrefetched(lease, keys);
        const begun = new Set(answer.begun);
        for (const key of keys) if (!begun.has(key)) this.#prefetchEnded(key);
        return answer;
      },
      returnPrefetched: async (lease, keys) => {
        const count = await store.returnPrefetched(lease, keys);
        for (const key of keys) this.#prefetchEnded(key);
        return count;
      },
    };
  }

  /** The handler of a job has ended, or will not be called. */
  jobEnded({ key, n }: Pick<ClaimedJob, "key" | "n">): void {
    const runs = this.#limitsOf.get(key) ?? [];
    const limits = runs.find((run) => run.n === n)?.limits;
    if (limits === undefined) return;
    if (runs.length === 1) this.#limitsOf.delete(key);
    else
      this.#limitsOf.set(
        key,
        runs.filter((run) => run.n !== n),
      );
    this.#book.free(limits, this.#parts.clock.monotonic());
    this.#schedule();
    if (limits.some((limit) => this.#full.has(limit))) this.#parts.onRoom();
  }

  /** A prefetched job does not start. It is the newest run of the job. */
  #prefetchEnded(key: JobKey): void {
    const run = this.#limitsOf.get(key)?.at(-1);
    if (run !== undefined) this.jobEnded({ key, n: run.n });
  }

  /** The store has removed the worker, and its permits with it. */
  lost(): void {
    this.#book = new PermitBook();
    this.#limitsOf.clear();
    this.#full = new Set();
  }

  /** The worker stops: its permits go with its registration. */
  stop(): void {
    this.#isStopped = true;
    this.#stopTimer?.();
    this.#stopToken?.();
  }

  async #claim<Answer>(
    ask: (permits: { readonly permits?: readonly PermitCount[] }) => Promise<Answer>,
    read: (answer: Answer) => ClaimedPermits,
  ): Promise<Answer> {
    // The store is told what the worker holds while no claim changes it.
    while (this.#keeping !== null) await this.#keeping;
    const book = this.#book;
    const lent = book.lend();
    this.#claims += 1;
    try {
      const answer = await ask(lent.length === 0 ? {} : { permits: lent });
      this.#answered(this.#book === book ? lent : [], read(answer));
      return answer;
    } catch (error) {
      book.lost(lent);
      throw error;
    } finally {
      this.#claims -= 1;
      if (this.#claims === 0) this.#claimsEnded.resolve();
      this.#schedule();
    }
  }

  #answered(lent: readonly PermitCount[], { jobs, granted, permits }: ClaimedPermits): void {
    const now = this.#parts.clock.monotonic();
    if (permits !== undefined || granted.length > 0) this.#isLimited = true;
    if (!this.#isLimited) return;
    this.#book.answered(lent, granted, now);
    for (const { key, n, limits } of jobs) {
      if (limits === undefined) continue;
      const others = this.#limitsOf.get(key)?.filter((run) => run.n !== n) ?? [];
      this.#limitsOf.set(key, [...others, { n, limits }]);
      this.#book.use(limits, now);
    }
    if (permits === undefined) return;
    for (const { limit, at } of permits.wanted) this.#book.wanted(limit, at);
    this.#full = new Set(permits.full.map(({ limit }) => limit));
    this.#awaitToken(permits);
  }

  /** Claims again when the first rate allows it. */
  #awaitToken({ full }: ClaimPermits): void {
    this.#stopToken?.();
    this.#stopToken = null;
    const times = full.flatMap(({ retryMs }) => retryMs ?? []);
    if (times.length === 0 || this.#isStopped) return;
    this.#stopToken = this.#parts.clock.after(Math.min(...times), () => {
      this.#stopToken = null;
      this.#parts.onRoom();
    });
  }

  /** Sets the time of the next {@link #keep}, unless it is set. */
  #schedule(): void {
    if (!this.#isLimited || this.#isStopped || this.#keeping !== null) return;
    // The timer finds out when it has come too early.
    if (this.#stopTimer !== null && !this.#book.isUrgent) return;
    const { clock } = this.#parts;
    const at = this.#book.nextReturn(IDLE_MS);
    if (at === null) return;
    const ms = at - clock.monotonic();
    if (ms <= 0) this.#keepSoon();
    else this.#setTimer(ms);
  }

  #setTimer(ms: number): void {
    this.#stopTimer ??= this.#parts.clock.after(ms, () => {
      this.#stopTimer = null;
      this.#schedule();
    });
  }

  #keepSoon(): void {
    this.#keeping = this.#keepAndGoOn();
  }

  async #keepAndGoOn(): Promise<void> {
    const isTold = await this.#keep();
    this.#keeping = null;
    if (isTold) this.#schedule();
    else if (!this.#isStopped) this.#setTimer(RETRY_MS);
  }

  /** Tells the store what the worker keeps, while no claim is under way. False: it did not hear. */
  async #keep(): Promise<boolean> {
    const { store, clock, logger, worker } = this.#parts;
    if (this.#claims > 0) {
      this.#claimsEnded = Promise.withResolvers();
      await this.#claimsEnded.promise;
    }
    const book = this.#book;
    const now = clock.monotonic();
    const permits = book.toKeep(now, IDLE_MS);
    book.keep(permits, now);
    try {
      if (!(await store.keepPermits(worker, permits))) return false;
      book.told();
      return true;
    } catch (error) {
      if (!this.#isStopped) logger.error("cannot return permits; trying again", { error });
      return false;
    }
  }
}

interface LimitedRun {
  readonly n: number;
  readonly limits: readonly LimitId[];
}

interface ClaimedPermits {
  readonly jobs: readonly ClaimedJob[];
  readonly granted: readonly PermitCount[];
  readonly permits?: ClaimPermits | undefined;
}
