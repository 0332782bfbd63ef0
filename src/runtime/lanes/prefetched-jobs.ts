/**
 * The jobs of one lane that are claimed, wait in the worker and have not started.
 *
 * Each is marked as started in the store before its handler runs, so that a crash counts for
 * started jobs only. The others go back to the queue. A lane holds the jobs that its slots will
 * need in the next half second. With long runs there is no prefetch, so that no worker holds jobs
 * that another worker could run.
 */
import { isEndedByCrash } from "../../core/settle.ts";
import type { JobStore } from "../../store/store.ts";
import type { ClaimedJob, Lease } from "../../store/types/jobs-and-runs.ts";

/** The working time that a prefetch may hold. */
const PREFETCH_MS = 500;
/** A job with a shorter time-out is not marked ahead. */
const MARKED_TIMEOUT_MS_MIN = 60_000;
/** The weight of the last run in the average. */
const SMOOTHING = 0.1;
/** The share of the store in the duration of a run. No run is faster. */
const RUN_MS_MIN = 0.2;

interface Prefetch {
  readonly lease: Lease;
  readonly jobs: ClaimedJob[];
}

export class PrefetchedJobs {
  readonly #store: Pick<JobStore, "startPrefetched" | "returnPrefetched">;
  #current: Prefetch | null = null;
  /** Jobs whose return is under way, or has failed: only this worker can return them. */
  readonly #returning = new Set<Prefetch>();
  #averageMs: number | null = null;

  constructor(store: Pick<JobStore, "startPrefetched" | "returnPrefetched">) {
    this.#store = store;
  }

  get isEmpty(): boolean {
    return this.#current === null;
  }

  /** Jobs are on their way back to the queue. */
  get isReturning(): boolean {
    return this.#returning.size > 0;
  }

  /** A run of the lane has taken so long. */
  runEnded(ms: number): void {
    this.#averageMs =
      this.#averageMs === null ? ms : this.#averageMs + SMOOTHING * (ms - this.#averageMs);
  }

  /** How many jobs the slots will finish within {@link PREFETCH_MS}, by the average of the runs. */
  sizeFor(slots: number, most: number): number {
    if (this.#averageMs === null || slots >= most) return 0;
    const perSlot = PREFETCH_MS / Math.max(this.#averageMs, RUN_MS_MIN);
    return Math.min(most, Math.floor(slots * perSlot));
  }

  keep(lease: Lease, jobs: readonly ClaimedJob[]): void {
    this.#current = { lease, jobs: [...jobs] };
  }

  /** The next jobs to mark: as many as there are free slots, and others that may be ahead. */
  next(free: number, ahead: number): readonly ClaimedJob[] {
    const most = this.#current?.jobs.slice(0, free + ahead) ?? [];
    const last = most.findIndex((job) => !mayWaitMarked(job));
    return last === -1 ? most : most.slice(0, Math.max(free, last));
  }

  /** Marks these jobs, the first ones, as started. Passes on those that may run. */
  async start(
    next: readonly ClaimedJob[],
    onBegun: (lease: Lease, jobs: readonly ClaimedJob[]) => void,
  ): Promise<void> {
    const prefetch = this.#current;
    if (prefetch === null) return;
    const { lease, jobs } = prefetch;
    const keys = next.map(({ key }) => key);
    const { begun } = await this.#store.startPrefetched(lease, keys);
    // After the call: if it fails, the jobs stay in the prefetch.
    jobs.splice(0, next.length);
    if (jobs.length === 0 && this.#current === prefetch) this.#current = null;
    const mayRun = new Set(begun);
    onBegun(
      lease,
      next.filter(({ key }) => mayRun.has(key)),
    );
  }

  /** Returns all jobs to the queue, also those of an earlier call that failed. */
  async giveBack(): Promise<void> {
    if (this.#current !== null) this.#returning.add(this.#current);
    this.#current = null;
    for (const prefetch of this.#returning) {
      const keys = prefetch.jobs.map(({ key }) => key);
      await this.#store.returnPrefetched(prefetch.lease, keys);
      this.#returning.delete(prefetch);
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
