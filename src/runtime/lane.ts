/**
 * One lane of a worker: so many slots, and where they get their work.
 *
 * A free slot asks for due jobs, which begin at once. If the answer was full there is a backlog,
 * and the next jobs should be at hand when slots get free. Many slots are filled by claims that
 * overlap: while the jobs of one run, the next is on its way. For few slots, what they will need in
 * the next half second is fetched into a prefetch; where runs take longer there is none, so that no
 * worker hoards what another could run. Jobs in the prefetch have not begun: each is started in the
 * store before its handler runs, so that a crash charges only what had really begun, and a stop
 * hands the rest back.
 */
import type { LaneClaim, LaneSlots } from "../core/lanes.ts";
import { BATCH_MAX, type JobStore } from "../store/store.ts";
import type { ClaimedJob, ClaimRequest, Lease } from "../store/types/jobs-and-runs.ts";

export interface LaneParts {
  readonly store: Pick<JobStore, "claim" | "claimsAtOnce" | "startPrefetched" | "returnPrefetched">;
  readonly name: string;
  readonly slots: number;
  readonly batch: number;
  /** Who asks, and for what. */
  readonly request: Pick<ClaimRequest, "worker" | "types" | "tenants">;
  readonly begin: (lane: Lane, lease: Lease, job: ClaimedJob) => void;
  readonly lost: () => void;
  /** False once nothing new may begin. */
  readonly isOpen: () => boolean;
  /** False while the store lags behind with the ends of runs. */
  readonly hasRoom: () => boolean;
}

/** How much work a prefetch may hold. */
const BUFFER_MS = 500;
/** Weight of the last run in the average. */
const SMOOTHING = 0.1;
/** Nothing is faster than this: the store's own share of a run. */
const RUN_MS_MIN = 0.2;

export class Lane {
  readonly name: string;
  readonly #parts: LaneParts;
  #running = 0;
  /** Who fills its slots just now, and how many jobs their claims may bring. */
  #hands = 0;
  #asked = 0;
  /** The last claim brought something, and all that it asked for. */
  #hasFound = false;
  #hasBacklog = false;
  #averageMs: number | null = null;
  #prefetch: { lease: Lease; jobs: ClaimedJob[] } | null = null;

  constructor(parts: LaneParts) {
    this.#parts = parts;
    this.name = parts.name;
  }

  /** Its slots and how many of them are taken. */
  get load(): LaneSlots {
    return { lane: this.name, slots: this.#parts.slots, running: this.#running + this.#asked };
  }

  get free(): number {
    return this.#parts.slots - this.#running - this.#asked;
  }

  /**
   * There may be work for a slot that has become free. After a claim that found nothing there is
   * none until a hint, or the next poll, tells of some. One that found less than it asked for says
   * little: payloads may have been too heavy, or jobs in the hands of somebody else.
   */
  get isHungry(): boolean {
    return this.#hasFound || this.#prefetch !== null;
  }

  /** A run of this lane has ended after so long. */
  ended(ms: number): void {
    this.#running -= 1;
    this.#averageMs =
      this.#averageMs === null ? ms : this.#averageMs + SMOOTHING * (ms - this.#averageMs);
  }

  /** One step towards full slots, in the lanes that the plan names. True: there may be another. */
  async fill({ lanes }: LaneClaim): Promise<boolean> {
    if (this.#hands > 0 && !this.#mayOverlap()) return false;
    this.#hands += 1;
    try {
      return await this.#fill(lanes);
    } finally {
      this.#hands -= 1;
    }
  }

  async #fill(lanes: ClaimRequest["lanes"]): Promise<boolean> {
    if (this.free <= 0 || !this.#parts.isOpen() || !this.#parts.hasRoom()) return false;
    if (this.#prefetch !== null) {
      await this.#startFromBuffer(this.#prefetch);
      return true;
    }
    await this.#claimForSlots(lanes);
    if (!this.#hasBacklog) return false;
    const ahead = this.#bufferSize();
    if (ahead > 0) await this.#claim({ lanes, limit: ahead, prefetch: true });
    return true;
  }

  async #claimForSlots(lanes: ClaimRequest["lanes"]): Promise<void> {
    const { slots, store } = this.#parts;
    const share = this.#mayOverlap() ? Math.ceil(slots / store.claimsAtOnce) : slots;
    const limit = Math.min(this.free, share, BATCH_MAX);
    this.#asked += limit;
    try {
      const taken = await this.#claim({ lanes, limit, prefetch: false });
      this.#hasFound = taken > 0;
      this.#hasBacklog = taken >= limit;
    } finally {
      this.#asked -= limit;
    }
  }

  /** With a backlog, claims overlap if the slots outnumber what a prefetch would hold. */
  #mayOverlap(): boolean {
    const { slots, batch } = this.#parts;
    return this.#hasBacklog && slots >= batch;
  }

  /** How many jobs the slots will finish within {@link BUFFER_MS}, going by the last runs. */
  #bufferSize(): number {
    const { slots, batch } = this.#parts;
    if (this.#averageMs === null || slots >= batch) return 0;
    const perSlot = BUFFER_MS / Math.max(this.#averageMs, RUN_MS_MIN);
    return Math.min(batch, Math.floor(slots * perSlot));
  }

  /** Gives back what has not begun. */
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
      // It is still held here: nobody else would ever give it back.
      this.#prefetch ??= prefetch;
      throw error;
    }
  }

  /** Answers how many jobs were taken. */
  async #claim(wanted: Pick<ClaimRequest, "lanes" | "limit" | "prefetch">): Promise<number> {
    const { store, request, lost } = this.#parts;
    const { lease, jobs, lost: isLost } = await store.claim({ ...request, ...wanted });
    if (isLost) lost();
    if (lease === null) return 0;
    if (wanted.prefetch) await this.#keep(lease, jobs);
    else for (const job of jobs) this.#begin(lease, job);
    return jobs.length;
  }

  /** Fills the prefetch; if nothing new may begin by now, it is handed back at once. */
  async #keep(lease: Lease, jobs: readonly ClaimedJob[]): Promise<void> {
    this.#prefetch = { lease, jobs: [...jobs] };
    if (!this.#parts.isOpen()) await this.returnPrefetched();
  }

  async #startFromBuffer(prefetch: { lease: Lease; jobs: ClaimedJob[] }): Promise<void> {
    const next = prefetch.jobs.slice(0, this.free);
    const keys = next.map(({ key }) => key);
    const { begun } = await this.#parts.store.startPrefetched(prefetch.lease, keys);
    // Only now: what could not be started is still in the prefetch.
    prefetch.jobs.splice(0, next.length);
    if (prefetch.jobs.length === 0 && this.#prefetch === prefetch) this.#prefetch = null;
    const mayRun = new Set(begun);
    for (const job of next) if (mayRun.has(job.key)) this.#begin(prefetch.lease, job);
  }

  #begin(lease: Lease, job: ClaimedJob): void {
    this.#running += 1;
    this.#parts.begin(this, lease, job);
  }
}
