/**
 * One lane of a worker: its slots, and the claims that fill them.
 *
 * Free slots claim due jobs, which start at once. If a claim returned as many jobs as requested,
 * there is a backlog, and the next jobs should be available when slots become free. A lane with
 * many slots overlaps its claims: while the jobs of one claim run, the next claim is sent. A lane
 * with few slots prefetches the jobs that its slots will need in the next half second. With long
 * runs there is no prefetch, so that no worker holds jobs that another worker could run.
 *
 * Prefetched jobs have not started: each is marked as started in the store before its handler runs,
 * so that a crash counts for started jobs only. A stop returns the others to the queue. A job that
 * has crashed before is never prefetched.
 *
 * A slot that waited for the mark of its next job would be idle for a commit. So one job per slot
 * is marked ahead, and a slot that becomes free takes such a job at once. A marked job that gets no
 * slot goes back uncharged: when the worker stops, when the operator cancels the job, and when no
 * slot was free for {@link MARK_MS_MAX}.
 *
 * A lane whose last claim found no job is dry: it claims again after a hint, or after the time of a
 * poll. A hint is anything that may have made a job claimable.
 */
import type { Clock } from "../core/clock.ts";
import type { LaneClaim, LaneSlots } from "../core/lanes.ts";
import type { Outcome } from "../core/outcome.ts";
import { BATCH_MAX, type JobStore } from "../store/store.ts";
import type {
  Claim,
  ClaimedJob,
  ClaimRequest,
  JobKey,
  Lease,
} from "../store/types/jobs-and-runs.ts";
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
  /** Settles a run that was marked as started, and whose handler was not called. */
  readonly settleUnbegun: (lease: Lease, job: ClaimedJob, outcome: UnbegunOutcome) => void;
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
/** How long a job that is marked as started waits for a slot. */
const MARK_MS_MAX = 2_000;
/**
 * A job with a shorter time-out is not marked ahead: its time starts with its mark for the thread
 * that ends the runs of a blocked event loop.
 */
const MARKED_TIMEOUT_MS_MIN = 60_000;
/** The weight of the last run in the average. */
const SMOOTHING = 0.1;
/** The share of the store in the duration of a run. No run is faster. */
const RUN_MS_MIN = 0.2;

/** How a run ends whose handler was not called. */
export type UnbegunOutcome = Outcome & { readonly type: "interrupted" | "cancelled" };

interface Prefetch {
  readonly lease: Lease;
  readonly jobs: ClaimedJob[];
}

interface MarkedJob {
  readonly lease: Lease;
  readonly job: ClaimedJob;
  /** When the store had marked the job, by the monotonic clock. */
  readonly at: number;
}

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
  #prefetch: Prefetch | null = null;
  /** Jobs whose return is under way, or has failed: only this worker can return them. */
  readonly #returning = new Set<Prefetch>();
  /** Prefetched jobs that the store knows as started, and that wait for a slot. */
  #marked: MarkedJob[] = [];
  /** Jobs whose mark is under way, as far as there are free slots for them. */
  #marking = 0;
  #isMarking = false;

  constructor(parts: LaneParts) {
    this.#parts = parts;
    this.name = parts.name;
  }

  /** The slots, and how many of them are taken. */
  get load(): LaneSlots {
    const { slots } = this.#parts;
    return { lane: this.name, slots, running: slots - this.free };
  }

  get free(): number {
    return this.#parts.slots - this.#running - this.#requested - this.#marking;
  }

  /**
   * The last claim found no job, and there was no hint since. A claim with fewer jobs than
   * requested does not mean that the queue is empty: the payloads may have been too large, or other
   * claims may have locked the jobs.
   */
  get isDry(): boolean {
    if (this.#prefetch !== null || this.#hasMarked) return false;
    return this.#parts.clock.monotonic() < this.#dryUntil;
  }

  /** A job may have become claimable. A claim under way may have looked too early. */
  hint(): void {
    this.#hints += 1;
    this.#dryUntil = -Infinity;
  }

  /** No run and no claim. Prefetched jobs have not started. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#fills === 0 && !this.#isMarking && !this.#hasMarked;
  }

  get #hasMarked(): boolean {
    return this.#marked.length > 0;
  }

  /** A run of this lane has ended, after `ms`. The slot takes a job that is marked as started. */
  runEnded(job: ClaimedJob, ms: number): void {
    this.#running -= 1;
    this.#parts.process.runEnded(job);
    this.#averageMs =
      this.#averageMs === null ? ms : this.#averageMs + SMOOTHING * (ms - this.#averageMs);
    if (this.#parts.isOpen() && this.#parts.hasRoom()) this.#startMarked();
  }

  /** There are prefetched jobs, and slots that have or will soon have no marked job to take. */
  get wantsMarks(): boolean {
    const isLow = this.free > 0 || this.#marked.length <= this.#parts.slots / 2;
    return this.#prefetch !== null && !this.#isMarking && isLow;
  }

  /**
   * Marks prefetched jobs as started: one for each free slot, and one per slot ahead. False: there
   * was nothing to mark.
   */
  async mark(): Promise<boolean> {
    const prefetch = this.#prefetch;
    const { isOpen, hasRoom } = this.#parts;
    if (prefetch === null || !this.wantsMarks || !isOpen() || !hasRoom()) return false;
    const next = this.#nextToMark(prefetch.jobs);
    if (next.length === 0) return false;
    this.#isMarking = true;
    this.#marking = Math.min(next.length, Math.max(0, this.free));
    try {
      await this.#markJobs(prefetch, next);
    } finally {
      this.#isMarking = false;
      this.#marking = 0;
    }
    if (!isOpen()) this.returnMarked();
    else if (hasRoom()) this.#startMarked();
    return true;
  }

  /** The first prefetched jobs, as many as there are free slots, and others that may be ahead. */
  #nextToMark(jobs: readonly ClaimedJob[]): readonly ClaimedJob[] {
    const free = Math.max(0, this.free);
    const ahead = this.#parts.slots - this.#marked.length;
    const most = jobs.slice(0, free + ahead);
    const short = most.findIndex(
      ({ timeoutMs }) => timeoutMs !== null && timeoutMs < MARKED_TIMEOUT_MS_MIN,
    );
    return short === -1 ? most : most.slice(0, Math.max(free, short));
  }

  /** Ends runs that were cancelled or ended while they waited for a slot. */
  dropMarked(run: { key: JobKey; n: number }, outcome: UnbegunOutcome | null): void {
    const index = this.#marked.findIndex(({ job }) => job.key === run.key && job.n === run.n);
    const [dropped] = index === -1 ? [] : this.#marked.splice(index, 1);
    if (dropped === undefined || outcome === null) return;
    this.#parts.settleUnbegun(dropped.lease, dropped.job, outcome);
  }

  /** Returns all jobs that wait here if the first one has waited too long for a slot. */
  async returnOverdue(): Promise<void> {
    const [first] = this.#marked;
    const isOverdue =
      first !== undefined && this.#parts.clock.monotonic() - first.at >= MARK_MS_MAX;
    if (isOverdue || this.#returning.size > 0) await this.returnPrefetched();
  }

  /** The runs have not begun: their jobs go back uncharged. */
  returnMarked(): void {
    const marked = this.#marked;
    this.#marked = [];
    for (const { lease, job } of marked) {
      this.#parts.settleUnbegun(lease, job, { type: "interrupted" });
    }
  }

  #startMarked(): void {
    while (this.#running < this.#parts.slots) {
      const next = this.#marked.shift();
      if (next === undefined) return;
      this.#start(next.lease, next.job);
    }
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
    if (this.#hasMarked) this.#startMarked();
    if (this.#prefetch !== null || this.free <= 0) return false;
    await this.#claimForSlots(lanes);
    if (!this.#hasBacklog) return false;
    const ahead = this.#returning.size === 0 ? this.#prefetchSize() : 0;
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
    this.returnMarked();
    if (this.#prefetch !== null) this.#returning.add(this.#prefetch);
    this.#prefetch = null;
    for (const prefetch of this.#returning) {
      const keys = prefetch.jobs.map(({ key }) => key);
      await this.#parts.store.returnPrefetched(prefetch.lease, keys);
      this.#returning.delete(prefetch);
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

  async #markJobs(prefetch: Prefetch, next: readonly ClaimedJob[]): Promise<void> {
    const { store, clock } = this.#parts;
    const keys = next.map(({ key }) => key);
    const { begun } = await store.startPrefetched(prefetch.lease, keys);
    // After the call: if it fails, the jobs stay in the prefetch.
    prefetch.jobs.splice(0, next.length);
    if (prefetch.jobs.length === 0 && this.#prefetch === prefetch) this.#prefetch = null;
    const mayRun = new Set(begun);
    const at = clock.monotonic();
    const { lease } = prefetch;
    for (const job of next) if (mayRun.has(job.key)) this.#marked.push({ lease, job, at });
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
