/**
 * Low-water marks: up to which position each priority of a lane has been claimed empty.
 *
 * A scan from the beginning walks over all jobs that the caller does not take: of other types or
 * tenants, or with a taken key. On PostgreSQL, claimed rows also stay in the index as dead entries
 * until no old snapshot can see them. So a scan begins at the marks of the scan before. But a job
 * may appear below a mark: by a late commit, a return of prefetched jobs, or an opened gate.
 * Therefore a rescan from the beginning is due after every wake-up, after an answer that was
 * shorter than the limit, and every 50 ms, as long as rescans take a small share of the time.
 * Beyond that share, an idle worker makes one per second and a busy worker one per ten seconds.
 *
 * An answer without a job is believed until the next wake-up or poll. So a claim that finds nothing
 * and may not rescan yet asks for a wake-up at the time of the rescan. A lock that this process has
 * released, or a job that it has returned, is a sure sign of a job below the marks: the next claim
 * that finds nothing rescans beyond the budget.
 *
 * Jobs of fair lanes get turns while they wait, below the marks as well. So a claimed job with a
 * turn sets the mark of its priority to the beginning, and no other job of the scan moves it. The
 * wake-up of a process that gives turns makes a rescan due in the others.
 */
import { RANK_START } from "../../core/control/fairness.ts";
import type { WakeUp } from "../store.ts";

/** Interval of rescans that nothing else has requested. */
const RESCAN_MS = 50;
/** The share of the time that rescans may take, and the largest unspent budget. */
const RESCAN_SHARE = 0.04;
const BUDGET_MS_MAX = 100;
/** What a busy worker leaves of the budget for claims that find nothing. */
const IDLE_BUDGET_MS = 75;
/** A rescan is made regardless of the budget after this time: by an idle, by a busy worker. */
const IDLE_MS_MAX = 1_000;
const BUSY_MS_MAX = 10_000;
/** Marks of one cursor, and cursors. */
const MARKS_MAX = 64;
const CURSORS_MAX = 32;

/** Above all priorities. */
export const PRIORITY_END = 2_147_483_647;

/** The position of a job in the order of its lane. */
export interface Position {
  readonly lane: number;
  readonly priority: number;
  readonly rank: number;
  readonly key: number;
}

/** A part of a lane's order to scan: from a position up to a priority. */
export interface ClaimRange extends Position {
  readonly end: number;
}

/** How many lanes and priorities a claim with `olderThanMs` looks at. */
export const CLASSES_MAX = 1_000;
/** In how many of them it looks for a job: no worker may take the jobs that have waited longest. */
export const AGED_CLASSES_MAX = 8;

/** All jobs of a lane and priority. */
export function classRange(lane: number, priority: number): ClaimRange {
  return { lane, priority, rank: RANK_START, key: 0, end: priority + 1 };
}

/** The time that rescans may take. */
class Budget {
  readonly #monotonic: () => number;
  #leftMs = BUDGET_MS_MAX;
  #at: number;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#at = monotonic();
  }

  /** Whether more than this is left. */
  hasRoom(reserveMs = 0): boolean {
    return this.#left > reserveMs;
  }

  /** When there is room again, if nothing is spent until then. */
  get roomInMs(): number {
    return Math.max(0, -this.#left) / RESCAN_SHARE + 1;
  }

  get #left(): number {
    const now = this.#monotonic();
    this.#leftMs = Math.min(BUDGET_MS_MAX, this.#leftMs + (now - this.#at) * RESCAN_SHARE);
    this.#at = now;
    return this.#leftMs;
  }

  spend(ms: number): void {
    this.#leftMs -= ms;
  }
}

/** The claim cursors of one store. */
export class LowWaterMarks {
  readonly #parts: CursorParts;
  readonly #cursors = new Map<string, ClaimCursor>();

  /** `wakeIn` is to wake the workers of this process after so many milliseconds. */
  constructor(monotonic: () => number, wakeIn: (ms: number) => void) {
    this.#parts = { monotonic, wakeIn, budget: new Budget(monotonic) };
  }

  /** Claims with different filters have different cursors: one skips jobs that another takes. */
  of(filter: string): ClaimCursor {
    const known = this.#cursors.get(filter);
    if (known !== undefined) return known;
    if (this.#cursors.size >= CURSORS_MAX) this.#cursors.clear();
    const cursor = new ClaimCursor(this.#parts);
    this.#cursors.set(filter, cursor);
    return cursor;
  }

  /** Jobs below the marks can be claimed again, and are more urgent than those above. */
  forget(): void {
    this.#cursors.clear();
  }

  /** This process has released a lock or returned a job: there are jobs below the marks. */
  jobsReturned(): void {
    for (const cursor of this.#cursors.values()) cursor.insistOnRescan();
  }

  /** Jobs may have appeared below the marks. */
  onWakeUp(wakeUp: WakeUp): void {
    if (wakeUp === "events" || wakeUp === "final") return;
    for (const cursor of this.#cursors.values()) cursor.requestRescan();
  }
}

/** How many jobs were claimed, and the positions of those without a crash, in order. */
interface ClaimedPositions {
  readonly count: number;
  readonly positions: readonly Position[];
  /** How long the scan took, if the store has measured it: without its commit and its answer. */
  readonly scanMs?: number;
}

/** The first job that a scan has found. Only jobs without a crash have a position. */
interface FoundJob extends Position {
  readonly crashes: number;
}

/** What to scan. Null: whole lanes. */
export type Ranges = readonly ClaimRange[] | null;

/** Claims jobs from these ranges. */
type TakeJobs<Batch extends ClaimedPositions> = (ranges: Ranges) => Promise<Batch>;

interface CursorParts {
  readonly monotonic: () => number;
  readonly wakeIn: (ms: number) => void;
  readonly budget: Budget;
}

/** The low-water marks of claims with the same filter. */
export class ClaimCursor {
  readonly #parts: CursorParts;
  /** Marks by lane, then by priority. */
  readonly #lanes = new Map<number, Map<number, Position>>();
  /** When a rescan is due. */
  #rescanAt = 0;
  #rescannedAt = -Infinity;
  /** A rescan has found a job that no scan from the marks would claim. */
  #mustRescan = false;
  /** A scan from the marks that finds nothing is followed by a rescan. */
  #insistsOnRescan = false;

  constructor(parts: CursorParts) {
    this.#parts = parts;
  }

  /** Makes a rescan due. */
  requestRescan(): void {
    this.#rescanAt = 0;
  }

  /** There are jobs below the marks. */
  insistOnRescan(): void {
    this.#insistsOnRescan = true;
  }

  /** Claims from the beginning if a rescan is due and within the budget, else from the marks. */
  async scan<Batch extends ClaimedPositions>(limit: number, take: TakeJobs<Batch>): Promise<Batch> {
    const steps = this.#steps<Batch>(limit);
    let step = steps.next();
    while (step.done !== true) step = steps.next(await take(step.value));
    return step.value;
  }

  /** The same for a store that answers at once. */
  scanNow<Batch extends ClaimedPositions>(limit: number, take: (ranges: Ranges) => Batch): Batch {
    const steps = this.#steps<Batch>(limit);
    let step = steps.next();
    while (step.done !== true) step = steps.next(take(step.value));
    return step.value;
  }

  /**
   * Whether a scan would find a job: from the marks, else from the beginning. The next claim starts
   * at the job that a scan from the beginning has found, and rescans if this job has no position.
   */
  finds(find: (ranges: Ranges) => FoundJob | null): boolean {
    const ranges = this.#ranges();
    if (ranges !== null) {
      if (find(ranges) !== null) return true;
      if (!this.#mayRescanIdle()) return false;
    }
    const startedAt = this.#parts.monotonic();
    this.#insistsOnRescan = false;
    const found = find(null);
    this.#rescanned(startedAt);
    this.#mustRescan = found !== null && found.crashes > 0;
    if (found !== null && found.crashes === 0) this.#startAt(found);
    return found !== null;
  }

  /** Jobs before this one in its lane and priority do not match the filter. */
  #startAt(first: Position): void {
    this.#rescanAt = this.#rescannedAt + RESCAN_MS;
    this.#lanes.clear();
    const { lane, priority, rank, key } = first;
    this.#advance([{ lane, priority, rank, key: key - 1 }]);
  }

  /** Yields the ranges of each scan, and gets the jobs that were claimed from them. */
  *#steps<Batch extends ClaimedPositions>(limit: number): Generator<Ranges, Batch, Batch> {
    const isDue = this.#lanes.size === 0 || this.#parts.monotonic() >= this.#rescanAt;
    if (this.#mustRescan || (isDue && this.#mayRescan(BUSY_MS_MAX, IDLE_BUDGET_MS))) {
      return yield* this.#scanFromBeginning<Batch>(limit);
    }
    const batch = yield this.#ranges();
    this.#advance(batch.positions);
    const { count } = batch;
    if (count >= limit) return batch;
    this.requestRescan();
    if (count > 0 || !this.#mayRescanIdle()) return batch;
    return yield* this.#scanFromBeginning<Batch>(limit);
  }

  /** After a scan that found nothing. If not yet, a wake-up comes when a rescan may be made. */
  #mayRescanIdle(): boolean {
    if (this.#insistsOnRescan || this.#mayRescan(IDLE_MS_MAX)) return true;
    const { budget, wakeIn } = this.#parts;
    wakeIn(Math.min(this.#rescannedAt + IDLE_MS_MAX - this.#parts.monotonic(), budget.roomInMs));
    return false;
  }

  #mayRescan(restMs: number, reserveMs = 0): boolean {
    const { budget, monotonic } = this.#parts;
    return budget.hasRoom(reserveMs) || monotonic() - this.#rescannedAt >= restMs;
  }

  #rescanned(startedAt: number, scanMs?: number): void {
    this.#rescannedAt = this.#parts.monotonic();
    this.#parts.budget.spend(scanMs ?? this.#rescannedAt - startedAt);
  }

  *#scanFromBeginning<Batch extends ClaimedPositions>(
    limit: number,
  ): Generator<Ranges, Batch, Batch> {
    const startedAt = this.#parts.monotonic();
    this.#mustRescan = false;
    this.#insistsOnRescan = false;
    this.#rescanAt = startedAt + RESCAN_MS;
    const batch = yield null;
    this.#rescanned(startedAt, batch.scanMs);
    // A full answer may have stopped before the marks. A shorter one has scanned beyond them: the
    // next scan most likely finds nothing, and from the marks it would need a rescan as well.
    if (batch.count >= limit) this.#lanes.clear();
    else this.requestRescan();
    this.#advance(batch.positions);
    return batch;
  }

  /** Claimed jobs are gone, and jobs before them do not match the filter. */
  #advance(positions: readonly Position[]): void {
    for (const position of positions) {
      const marks = this.#lanes.get(position.lane) ?? new Map<number, Position>();
      this.#lanes.set(position.lane, marks);
      const mark = marks.get(position.priority);
      if (position.rank < 0)
        marks.set(position.priority, { ...position, rank: RANK_START, key: 0 });
      else if (mark === undefined || isBeyond(position, mark)) {
        marks.set(position.priority, position);
      }
    }
    const count = [...this.#lanes.values()].reduce((sum, marks) => sum + marks.size, 0);
    if (count > MARKS_MAX) this.#lanes.clear();
  }

  /** The ranges of each lane: before its first mark, and from each mark to the next priority. */
  #ranges(): Ranges {
    if (this.#lanes.size === 0) return null;
    return [...this.#lanes].flatMap(([lane, marks]) => {
      const sorted = [...marks.values()].toSorted((left, right) => left.priority - right.priority);
      const beginning = { lane, priority: 0, rank: RANK_START, key: 0 };
      return [beginning, ...sorted].map((position, index) => ({
        ...position,
        end: sorted[index]?.priority ?? PRIORITY_END,
      }));
    });
  }
}

function isBeyond(position: Position, mark: Position): boolean {
  if (mark.rank === RANK_START) return false;
  return position.rank > mark.rank || (position.rank === mark.rank && position.key > mark.key);
}
