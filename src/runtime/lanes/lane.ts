/**
 * One lane of a worker: its slots, and the claims that fill them.
 *
 * Free slots claim due jobs, which start at once. If a claim returned as many jobs as requested,
 * there is a backlog, and the next jobs should be available when slots become free. A lane with
 * many slots overlaps its claims: while the jobs of one claim run, the next claim is sent. A lane
 * with few slots prefetches jobs, and marks one per slot as started ahead. A job that has crashed
 * before is never prefetched.
 *
 * A lane whose last claim found no job is dry: it claims again after a hint, or after the time of a
 * poll. A hint is anything that may have made a job claimable. A claim that took the only jobs that
 * waited also leaves the lane dry, so that a lone job costs one claim. But hints from other
 * processes are throttled: when jobs come so fast that they share hints, the lane claims again.
 */
import type { Clock } from "../../core/clock.ts";
import type { LaneClaim, LaneSlots } from "../../core/lanes.ts";
import { soon } from "../../lib/system.ts";
import type { JobStore } from "../../store/store.ts";
import type { Claim, ClaimedJob, ClaimRequest, Lease } from "../../store/types/jobs-and-runs.ts";
import type { HostProcess } from "../crashes/host-process.ts";
import type { RunName } from "../run/lock-queue.ts";
import { Ageing } from "./ageing.ts";
import { MarkedJobs, type MarkedJobsParts, type UnbegunOutcome } from "./marked-jobs.ts";
import { PrefetchedJobs } from "./prefetched-jobs.ts";

export interface LaneParts extends Pick<MarkedJobsParts, "settleUnbegun"> {
  readonly store: Pick<JobStore, "claim" | "claimsAtOnce" | "startPrefetched" | "returnPrefetched">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly name: string;
  readonly slots: number;
  /** The maximum number of jobs in one claim. */
  readonly batch: number;
  /** Jobs that have waited longer have a share of the claims; null: no ageing. */
  readonly ageingMs: number | null;
  /** The worker knows of a fair lane: fewer jobs are prefetched. */
  readonly isFair: () => boolean;
  /** How long a claim that found no job is believed without a hint. */
  readonly dryMs: number;
  /** The worker, and the jobs it takes. */
  readonly request: Pick<ClaimRequest, "worker" | "types" | "tenants">;
  /** The slots of the process for jobs that have crashed before. */
  readonly process: Pick<HostProcess, "share" | "runEnded">;
  /** From this number of crashes on, a job runs alone. */
  readonly crashCap: number;
  readonly start: (lane: Lane, lease: Lease, job: ClaimedJob) => void;
  /** A run has left its slot. The slot may be taken for a job that no lane claims. */
  readonly onSlotFree: (lane: Lane) => void;
  readonly onLost: () => void;
  /** After every claim: whether a job waits that must run alone. */
  readonly onClaimed: (awaitsAlone: boolean) => void;
  /** A job that is marked as started was ended by the store. */
  readonly onDropped: (job: ClaimedJob) => void;
  /** False once no job may start. */
  readonly isOpen: () => boolean;
  /** False while too many settlements wait for the store. */
  readonly hasRoom: () => boolean;
}

type WantedJobs = Pick<ClaimRequest, "lanes" | "limit" | "prefetch" | "olderThanMs">;

/** The maximum number of prefetched jobs. */
const PREFETCH_MAX = 100;
/** Jobs that start in one turn of the event loop. */
const STARTS_PER_TURN = 100;
/** Jobs that come further apart have a hint each, at once. */
const OWN_HINT_MS = 20;

export class Lane {
  readonly name: string;
  readonly #parts: LaneParts;
  #running = 0;
  #claims = 0;
  /** Calls of `fill` in progress, and the number of jobs that they request. */
  #fills = 0;
  #requested = 0;
  /** Claimed jobs that start in the next turns of the event loop. */
  #starting = 0;
  /** The last claim returned as many jobs as requested. */
  #hasBacklog = false;
  #hints = 0;
  #dryUntil = -Infinity;
  /** When the last claim that found a job was sent. */
  #foundAt = -Infinity;
  readonly #prefetched: PrefetchedJobs;
  readonly #marked: MarkedJobs;
  readonly #ageing: Ageing;
  /** Jobs whose mark is under way, as far as there are free slots for them. */
  #marking = 0;
  #isMarking = false;

  constructor(parts: LaneParts) {
    this.#parts = parts;
    this.name = parts.name;
    this.#prefetched = new PrefetchedJobs(parts);
    this.#marked = new MarkedJobs(parts);
    this.#ageing = new Ageing(parts.ageingMs);
  }

  /** The slots, and how many of them are taken. */
  get load(): LaneSlots {
    const { slots } = this.#parts;
    return { lane: this.name, slots, running: slots - this.free };
  }

  get free(): number {
    const soonTaken = this.#requested + this.#starting + this.#marking;
    return this.#parts.slots - this.#running - soonTaken;
  }

  /** How many claims for slots were answered. */
  get claims(): number {
    return this.#claims;
  }

  /**
   * The last claim found no job or took all of them, and there was no hint since. A claim with
   * fewer jobs than requested does not mean that the queue is empty: the payloads may have been too
   * large, or other claims may have locked the jobs.
   */
  get isDry(): boolean {
    if (!this.#prefetched.isEmpty || this.#marked.size > 0) return false;
    return this.#parts.clock.monotonic() < this.#dryUntil;
  }

  /** A job may have become claimable. A claim under way may have looked too early. */
  hint(): void {
    this.#hints += 1;
    this.#dryUntil = -Infinity;
  }

  /** No run, no claim and no job that is marked as started. */
  get isIdle(): boolean {
    const hasMarks = this.#isMarking || this.#marked.size > 0 || this.#prefetched.isUnsure;
    return this.#running === 0 && this.#fills === 0 && !hasMarks;
  }

  /** A run of this lane has ended, after `ms`. The slot takes a job that is marked as started. */
  runEnded(job: ClaimedJob, ms: number): void {
    this.#running -= 1;
    // Before anything else that fills slots.
    this.#parts.onSlotFree(this);
    this.#parts.process.runEnded(job);
    this.#prefetched.runEnded(ms);
    this.#startMarked();
  }

  /** There are prefetched jobs, and slots that have or will soon have no marked job to take. */
  get wantsMarks(): boolean {
    const isLow = this.free > 0 || this.#marked.size <= this.#parts.slots / 2;
    return !this.#prefetched.isEmpty && !this.#isMarking && isLow;
  }

  /**
   * Marks prefetched jobs as started: one for each free slot, and one per slot ahead. False: there
   * was nothing to mark.
   */
  async mark(): Promise<boolean> {
    const { slots, isOpen, hasRoom } = this.#parts;
    if (!this.wantsMarks || !isOpen() || !hasRoom()) return false;
    const free = Math.max(0, this.free);
    const next = this.#prefetched.next(free, slots - this.#marked.size);
    if (next.length === 0) return false;
    this.#isMarking = true;
    this.#marking = Math.min(next.length, free);
    try {
      this.#marked.add(await this.#prefetched.start(next));
    } finally {
      this.#isMarking = false;
      this.#marking = 0;
    }
    if (!isOpen()) this.returnMarked();
    this.#startMarked();
    return true;
  }

  /** Ends a run that was cancelled or ended while its job waited for a slot. */
  dropMarked(run: RunName, outcome: UnbegunOutcome | null): void {
    const dropped = this.#marked.drop(run, outcome);
    if (dropped !== null) this.#parts.onDropped(dropped);
  }

  /** Returns all jobs that wait here if the first one has waited too long for a slot. */
  async returnOverdue(): Promise<void> {
    if (this.#marked.isOverdue || this.#prefetched.isReturning) await this.returnPrefetched();
  }

  /** The runs have not begun: their jobs go back uncharged. */
  returnMarked(): void {
    this.#marked.giveBack();
  }

  /**
   * Fills free slots with jobs that are marked as started. A mark that is too old goes back: the
   * time of a run starts with its mark for the thread that ends the runs of a blocked event loop.
   */
  #startMarked(): void {
    const { isOpen, hasRoom } = this.#parts;
    if (this.#marked.isOverdue) this.returnMarked();
    while (this.free > 0 && isOpen() && hasRoom()) {
      const next = this.#marked.take();
      if (next === undefined) return;
      this.#start(next.lease, next.job);
    }
  }

  /** Fills slots with jobs of the planned lanes. True: there may be more jobs. */
  async fill({ lanes }: LaneClaim): Promise<boolean> {
    if (this.#fills > 0 && !this.#mayOverlap()) return false;
    // The runs that have ended by then share one claim.
    if (this.#starting > 0) return false;
    this.#fills += 1;
    try {
      return await this.#fill(lanes);
    } finally {
      this.#fills -= 1;
    }
  }

  async #fill(lanes: ClaimRequest["lanes"]): Promise<boolean> {
    if (this.free <= 0 || !this.#parts.isOpen() || !this.#parts.hasRoom()) return false;
    this.#startMarked();
    if (!this.#prefetched.isEmpty || this.free <= 0) return false;
    const isCut = await this.#claimForSlots(lanes);
    // Limits left jobs out, and are used up now: the next claim looks behind these jobs.
    if (isCut) return true;
    if (!this.#hasBacklog) return false;
    const { slots, isFair } = this.#parts;
    const most = this.#prefetchMax;
    const ahead = this.#prefetched.isReturning
      ? 0
      : this.#prefetched.sizeFor(slots, most, isFair());
    if (ahead > 0) await this.#prefetch(lanes, ahead);
    return true;
  }

  /** True: limits have left jobs out, behind which others may wait. */
  async #claimForSlots(lanes: ClaimRequest["lanes"]): Promise<boolean> {
    const { slots, batch, store } = this.#parts;
    const share = this.#mayOverlap() ? Math.ceil(slots / store.claimsAtOnce) : slots;
    const next = this.#ageing.next(Math.min(this.free, share, batch));
    const { limit } = next;
    const hints = this.#hints;
    const isApart = this.#isApart();
    const { lease, jobs, tookAll, permits } = await this.#claimFor(lanes, next);
    const isEmpty = jobs.length === 0 || (tookAll && isApart);
    if (isEmpty && hints === this.#hints) this.#runDry();
    this.#hasBacklog = jobs.length >= limit;
    if (lease !== null) await this.#startAll(lease, jobs);
    return permits?.isCut ?? false;
  }

  /** The next job comes long after the one before. */
  #isApart(): boolean {
    return this.#parts.clock.monotonic() - this.#foundAt >= OWN_HINT_MS;
  }

  #runDry(): void {
    const { clock, dryMs } = this.#parts;
    this.#dryUntil = clock.monotonic() + dryMs;
  }

  /** With a backlog, claims overlap if there are more slots than prefetched jobs. */
  #mayOverlap(): boolean {
    return this.#hasBacklog && this.#parts.slots >= this.#prefetchMax;
  }

  get #prefetchMax(): number {
    return Math.min(this.#parts.batch, PREFETCH_MAX);
  }

  /** Returns jobs that have not started to the queue. */
  async returnPrefetched(): Promise<void> {
    this.returnMarked();
    await this.#prefetched.giveBack();
  }

  /** Claims jobs that start at once. */
  async #claimFor(
    lanes: ClaimRequest["lanes"],
    next: Pick<ClaimRequest, "limit" | "olderThanMs">,
  ): Promise<Claim> {
    const { limit } = next;
    this.#requested += limit;
    try {
      const claim = await this.#claim({ lanes, ...next, prefetch: false });
      this.#starting += claim.jobs.length;
      return claim;
    } finally {
      this.#requested -= limit;
      // A job may have been marked meanwhile, which left its slot to the claim.
      this.#startMarked();
    }
  }

  /** Starts the jobs of a large claim in several turns, so that the event loop stays free. */
  async #startAll(lease: Lease, jobs: readonly ClaimedJob[]): Promise<void> {
    for (let from = 0; from < jobs.length; from += STARTS_PER_TURN) {
      if (from > 0) await nextTurn();
      const next = jobs.slice(from, from + STARTS_PER_TURN);
      this.#starting -= next.length;
      for (const job of next) this.#start(lease, job);
    }
  }

  async #prefetch(lanes: ClaimRequest["lanes"], limit: number): Promise<void> {
    const next = this.#ageing.next(limit);
    const { lease, jobs } = await this.#claim({ lanes, ...next, prefetch: true });
    if (lease !== null) await this.#keepPrefetched(lease, jobs);
  }

  async #claim(wanted: WantedJobs): Promise<Claim> {
    const { clock, onLost, onClaimed } = this.#parts;
    const askedAt = clock.monotonic();
    const claim = await this.#ask(wanted);
    this.#ageing.claimed(wanted, claim.jobs.length);
    if (claim.lost) onLost();
    if (!wanted.prefetch) {
      this.#claims += 1;
      onClaimed(claim.awaitsAlone);
    }
    if (claim.lease !== null) this.#foundAt = askedAt;
    return claim;
  }

  /** The share of crashed jobs ends before the first run can: a run that ends is counted. */
  async #ask(wanted: WantedJobs): Promise<Claim> {
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
    this.#prefetched.keep(lease, jobs);
    if (!this.#parts.isOpen()) await this.returnPrefetched();
  }

  /** A run begins that this lane has not claimed. */
  takeSlot(): void {
    this.#running += 1;
  }

  /** The run does not begin: the slot is free again. */
  freeSlot(): void {
    this.#running -= 1;
    this.#startMarked();
  }

  #start(lease: Lease, job: ClaimedJob): void {
    this.#running += 1;
    this.#parts.start(this, lease, job);
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => soon(resolve));
}
