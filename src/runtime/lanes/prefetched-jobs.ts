/**
 * The jobs of one lane that are claimed, wait in the worker and have not started.
 *
 * Each is marked as started in the store before its handler runs, so that a crash counts for
 * started jobs only. The others go back to the queue. A lane holds the jobs that its slots will
 * need in the next half second. With long runs there is no prefetch, so that no worker holds jobs
 * that another worker could run.
 */
import type { Clock } from "../../core/clock.ts";
import { isEndedByCrash } from "../../core/settle.ts";
import type { JobStore } from "../../store/store.ts";
import type { ClaimedJob, Lease } from "../../store/types/jobs-and-runs.ts";
import type { MarkedJob, SettleUnbegun } from "./marked-jobs.ts";

/** The working time that a prefetch may hold. */
const PREFETCH_MS = 500;
/** The same where lanes are fair: a job of another tenant starts after the prefetched jobs. */
const FAIR_PREFETCH_MS = 100;
/** A job with a shorter time-out is not marked ahead. */
const MARKED_TIMEOUT_MS_MIN = 60_000;
/** The weight of the last run in the average. */
const SMOOTHING = 0.1;
/** The share of the store in the duration of a run. No run is faster. */
const RUN_MS_MIN = 0.2;

export interface PrefetchedJobsParts {
  readonly clock: Pick<Clock, "monotonic">;
  readonly store: Pick<JobStore, "startPrefetched" | "returnPrefetched">;
  readonly settleUnbegun: SettleUnbegun;
}

interface Prefetch {
  readonly lease: Lease;
  readonly jobs: ClaimedJob[];
  /** The mark that is under way, which never rejects. */
  marking: Promise<unknown>;
  /** So many of the first jobs may be marked, since then: the answer of the store was lost. */
  unsure: number;
  unsureSince: number | null;
}

export class PrefetchedJobs {
  readonly #parts: PrefetchedJobsParts;
  #current: Prefetch | null = null;
  /** Jobs whose return is under way, or has failed: only this worker can return them. */
  readonly #returning = new Set<Prefetch>();
  #givingBack: Promise<void> | null = null;
  #averageMs: number | null = null;

  constructor(parts: PrefetchedJobsParts) {
    this.#parts = parts;
  }

  get isEmpty(): boolean {
    return this.#current === null;
  }

  /** Jobs are on their way back to the queue. */
  get isReturning(): boolean {
    return this.#returning.size > 0;
  }

  /** The store may know jobs as started that wait here. */
  get isUnsure(): boolean {
    const waiting = this.#current === null ? this.#returning : [this.#current, ...this.#returning];
    return [...waiting].some(({ unsure }) => unsure > 0);
  }

  /** A run of the lane has taken so long. */
  runEnded(ms: number): void {
    this.#averageMs =
      this.#averageMs === null ? ms : this.#averageMs + SMOOTHING * (ms - this.#averageMs);
  }

  /** How many jobs the slots will finish within {@link PREFETCH_MS}, by the average of the runs. */
  sizeFor(slots: number, most: number, isFair = false): number {
    if (this.#averageMs === null || slots >= most) return 0;
    const ms = isFair ? FAIR_PREFETCH_MS : PREFETCH_MS;
    const perSlot = ms / Math.max(this.#averageMs, RUN_MS_MIN);
    return Math.min(most, Math.floor(slots * perSlot));
  }

  keep(lease: Lease, jobs: readonly ClaimedJob[]): void {
    this.#current = {
      lease,
      jobs: [...jobs],
      marking: Promise.resolve(),
      unsure: 0,
      unsureSince: null,
    };
  }

  /** The next jobs to mark: as many as there are free slots, and others that may be ahead. */
  next(free: number, ahead: number): readonly ClaimedJob[] {
    const most = this.#current?.jobs.slice(0, free + ahead) ?? [];
    const last = most.findIndex((job) => !mayWaitMarked(job));
    return last === -1 ? most : most.slice(0, Math.max(free, last));
  }

  /** Marks the next jobs as started. Answers those that may run. */
  async start(next: readonly ClaimedJob[]): Promise<readonly MarkedJob[]> {
    const prefetch = this.#current;
    if (prefetch === null) return [];
    const marked = this.#mark(prefetch, next.length);
    prefetch.marking = marked.catch(() => {});
    const begun = await marked;
    if (prefetch.jobs.length === 0 && this.#current === prefetch) this.#current = null;
    return begun;
  }

  /** Marks the first jobs of a prefetch. If the call fails, they stay in the prefetch. */
  async #mark(prefetch: Prefetch, count: number): Promise<readonly MarkedJob[]> {
    const { lease, jobs } = prefetch;
    const at = prefetch.unsureSince ?? this.#parts.clock.monotonic();
    const next = jobs.slice(0, count);
    const keys = next.map(({ key }) => key);
    try {
      const { begun } = await this.#parts.store.startPrefetched(lease, keys);
      jobs.splice(0, count);
      prefetch.unsure = Math.max(0, prefetch.unsure - count);
      if (prefetch.unsure === 0) prefetch.unsureSince = null;
      const mayRun = new Set(begun);
      return next.filter(({ key }) => mayRun.has(key)).map((job) => ({ lease, job, at }));
    } catch (error) {
      prefetch.unsure = Math.max(prefetch.unsure, count);
      prefetch.unsureSince = at;
      throw error;
    }
  }

  /** Returns all jobs to the queue, also those of an earlier call that failed. */
  async giveBack(): Promise<void> {
    if (this.#current !== null) this.#returning.add(this.#current);
    this.#current = null;
    while (this.#returning.size > 0) {
      this.#givingBack ??= this.#giveBackAll().finally(() => {
        this.#givingBack = null;
      });
      await this.#givingBack;
    }
  }

  async #giveBackAll(): Promise<void> {
    for (const prefetch of this.#returning) {
      const keys = prefetch.jobs.map(({ key }) => key);
      await this.#parts.store.returnPrefetched(prefetch.lease, keys);
      await prefetch.marking;
      if (prefetch.unsure > 0) await this.#giveBackMarked(prefetch);
      this.#returning.delete(prefetch);
    }
  }

  /**
   * Started jobs are not returned, but settled. The mark is repeated to find them: the lease names
   * no other job of the prefetch any more.
   */
  async #giveBackMarked(prefetch: Prefetch): Promise<void> {
    for (const { lease, job } of await this.#mark(prefetch, prefetch.unsure)) {
      this.#parts.settleUnbegun(lease, job, { type: "interrupted" });
    }
  }
}

/**
 * Whether a job may be marked as started before there is a slot. With its mark, the time of a run
 * starts for the thread that ends the runs of a blocked event loop. And with its mark, a run counts
 * as begun: a crash would end a job that may not run again, although its handler was never called.
 */
function mayWaitMarked(job: ClaimedJob): boolean {
  const isShort = job.timeoutMs !== null && job.timeoutMs < MARKED_TIMEOUT_MS_MIN;
  return !isShort && !isEndedByCrash(job);
}
