/**
 * One lane of a worker: its slots, and the claims that fill them.
 *
 * Free slots claim due jobs, which start at once. If a claim returned as many jobs as requested,
 * there is a backlog, and the next jobs should be available when slots become free. A lane with
 * many slots overlaps its claims: while the jobs of one claim run, the next claim is sent. A lane
 * with few slots prefetches the jobs that its slots will need in the next half second. With long
 * runs there is no prefetch, so that no worker holds jobs that another worker could run.
 *
 * Prefetched jobs have not started: each is started in the store before its handler runs, so that
 * a crash counts for started jobs only. A stop returns the others to the queue. A job that has
 * crashed before is never prefetched.
 *
 * A lane whose last claim found no job is dry: it claims again after a hint, or after the time of a
 * poll. A hint is anything that may have made a job claimable.
 */
import type { Clock } from "../core/clock.ts";
import type { LaneClaim, LaneSlots } from "../core/lanes.ts";
import { BATCH_MAX, type JobStore } from "../store/store.ts";
import type { Claim, ClaimedJob, ClaimRequest, Lease } from "../store/types/jobs-and-runs.ts";
import type { HostProcess } from "./crashes/host-process.ts";

export interface LaneParts {
  readonly store: Pick<JobStore, "claim" | "claimsAtOnce" | "startPrefetched" | "returnPrefetched">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly name: string;
  readonly slots: number;
  readonly batch: number;
  /** How long a claim that found no job is believed without a hint. */
  readonly dryMs: number;
  /** The worker, and the jobs it takes. */
  readonly request: Pick<ClaimRequest, "worker" | "types" | "tenants">;
  /** The slots of the process for jobs that have crashed before. */
  readonly process: Pick<HostProcess, "share" | "runEnded">;
  /** From this number of crashes on, a job runs alone. */
  readonly crashCap: number;
  readonly start: (lane: Lane, lease: Lease, job: ClaimedJob) => void;
  readonly onLost: () => void;
  /** After every claim: whether a job waits that must run alone. */
  readonly onClaimed: (awaitsAlone: boolean) => void;
  /** False once no job may start. */
  readonly isOpen: () => boolean;
  /** False while too many settlements wait for the store. */
  readonly hasRoom: () => boolean;
}

/** The working time that a prefetch may hold. */
const PREFETCH_MS = 500;
/** The weight of the last run in the average. */
const SMOOTHING = 0.1;
/** The share of the store in the duration of a run. No run is faster. */
const RUN_MS_MIN = 0.2;

export class Lane {
  readonly name: string;
  readonly #parts: LaneParts;
  #running = 0;
  /** Calls of `fill` in progress, and the number of jobs that they request. */
  #fills = 0;
  #requested = 0;
  /** The last claim returned as many jobs as requested. */
  #hasBacklog = false;
  #hints = 0;
  #dryUntil = -Infinity;
  #averageMs: number | null = null;
  #prefetch: { lease: Lease; jobs: ClaimedJob[] } | null = null;

  constructor(parts: LaneParts) {
    this.#parts = parts;
    this.name = parts.name;
  }

  /** The slots, and how many of them are taken. */
  get load(): LaneSlots {
    return { lane: this.name, slots: this.#parts.slots, running: this.#running + this.#requested };
  }

  get free(): number {
    return this.#parts.slots - this.#running - this.#requested;
  }

  /**
   * The last claim found no job, and there was no hint since. A claim with fewer jobs than
   * requested does not mean that the queue is empty: the payloads may have been too large, or other
   * claims may have locked the jobs.
   */
  get isDry(): boolean {
    return this.#prefetch === null && this.#parts.clock.monotonic() < this.#dryUntil;
  }

  /** A job may have become claimable. A claim under way may have looked too early. */
  hint(): void {
    this.#hints += 1;
    this.#dryUntil = -Infinity;
  }

  /** No run and no claim. Prefetched jobs have not started. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#fills === 0;
  }

  /** A run of this lane has ended, after `ms`. */
  runEnded(job: ClaimedJob, ms: number): void {
    this.#running -= 1;
    this.#parts.process.runEnded(job);
    this.#averageMs =
      this.#averageMs === null ? ms : this.#averageMs + SMOOTHING * (ms - this.#averageMs);
  }

  /** Fills slots with jobs of the planned lanes. True: there may be more jobs. */
  async fill({ lanes }: LaneClaim): Promise<boolean> {
    if (this.#fills > 0 && !this.#mayOverlap()) return false;
    this.#fills += 1;
    try {
      return await this.#fill(lanes);
    } finally {
      this.#fills -= 1;
    }
  }

  async #fill(lanes: ClaimRequest["lanes"]): Promise<boolean> {
    if (this.free <= 0 || !this.#parts.isOpen() || !this.#parts.hasRoom()) return false;
    if (this.#prefetch !== null) {
      await this.#startPrefetched(this.#prefetch);
      return true;
    }
    await this.#claimForSlots(lanes);
    if (!this.#hasBacklog) return false;
    const ahead = this.#prefetchSize();
    if (ahead > 0) await this.#claim({ lanes, limit: ahead, prefetch: true });
    return true;
  }

  async #claimForSlots(lanes: ClaimRequest["lanes"]): Promise<void> {
    const { slots, store } = this.#parts;
    const share = this.#mayOverlap() ? Math.ceil(slots / store.claimsAtOnce) : slots;
    const limit = Math.min(this.free, share, BATCH_MAX);
    const hints = this.#hints;
    this.#requested += limit;
    try {
      const taken = await this.#claim({ lanes, limit, prefetch: false });
      if (taken === 0 && hints === this.#hints) this.#runDry();
      this.#hasBacklog = taken >= limit;
    } finally {
      this.#requested -= limit;
    }
  }

  #runDry(): void {
    const { clock, dryMs } = this.#parts;
    this.#dryUntil = clock.monotonic() + dryMs;
  }

  /** With a backlog, claims overlap if there are more slots than prefetched jobs. */
  #mayOverlap(): boolean {
    const { slots, batch } = this.#parts;
    return this.#hasBacklog && slots >= batch;
  }

  /** How many jobs the slots will finish within {@link PREFETCH_MS}, by the average of the runs. */
  #prefetchSize(): number {
    const { slots, batch } = this.#parts;
    if (this.#averageMs === null || slots >= batch) return 0;
    const perSlot = PREFETCH_MS / Math.max(this.#averageMs, RUN_MS_MIN);
    return Math.min(batch, Math.floor(slots * perSlot));
  }

  /** Returns jobs that have not started to the queue. */
  async returnPrefetched(): Promise<void> {
    const prefetch = this.#prefetch;
    this.#prefetch = null;
    if (prefetch === null) return;
    try {
      await this.#parts.store.returnPrefetched(
        prefetch.lease,
        prefetch.jobs.map(({ key }) => key),
      );
    } catch (error) {
      // The jobs are still claimed: only this worker can return them.
      this.#prefetch ??= prefetch;
      throw error;
    }
  }

  /** Returns the number of claimed jobs. */
  async #claim(wanted: Pick<ClaimRequest, "lanes" | "limit" | "prefetch">): Promise<number> {
    const { lease, jobs, lost, awaitsAlone } = await this.#ask(wanted);
    if (lost) this.#parts.onLost();
    if (!wanted.prefetch) this.#parts.onClaimed(awaitsAlone);
    if (lease === null) return 0;
    if (wanted.prefetch) await this.#keepPrefetched(lease, jobs);
    else for (const job of jobs) this.#start(lease, job);
    return jobs.length;
  }

  /** The share of crashed jobs ends before the first run can: a run that ends is counted. */
  async #ask(wanted: Pick<ClaimRequest, "lanes" | "limit" | "prefetch">): Promise<Claim> {
    const { store, request, process, crashCap: cap } = this.#parts;
    if (wanted.prefetch) return store.claim({ ...request, ...wanted });
    const share = process.share(wanted.limit);
    let jobs: readonly ClaimedJob[] = [];
    try {
      const { once, often } = share;
      const claim = await store.claim({ ...request, ...wanted, crashed: { once, often, cap } });
      ({ jobs } = claim);
      return claim;
    } finally {
      share.end(jobs);
    }
  }

  /** Keeps prefetched jobs, or returns them at once if no job may start any more. */
  async #keepPrefetched(lease: Lease, jobs: readonly ClaimedJob[]): Promise<void> {
    this.#prefetch = { lease, jobs: [...jobs] };
    if (!this.#parts.isOpen()) await this.returnPrefetched();
  }

  async #startPrefetched(prefetch: { lease: Lease; jobs: ClaimedJob[] }): Promise<void> {
    const next = prefetch.jobs.slice(0, this.free);
    const keys = next.map(({ key }) => key);
    const { begun } = await this.#parts.store.startPrefetched(prefetch.lease, keys);
    // After the call: if it fails, the jobs stay in the prefetch.
    prefetch.jobs.splice(0, next.length);
    if (prefetch.jobs.length === 0 && this.#prefetch === prefetch) this.#prefetch = null;
    const mayRun = new Set(begun);
    for (const job of next) if (mayRun.has(job.key)) this.#start(prefetch.lease, job);
  }

  /** A run begins that this lane has not claimed. */
  takeSlot(): void {
    this.#running += 1;
  }

  #start(lease: Lease, job: ClaimedJob): void {
    this.#running += 1;
    this.#parts.start(this, lease, job);
  }
}
