/**
 * Low-water cursor: how far the beginning of each priority of a lane has been claimed empty.
 *
 * Rows that were claimed stay in the index until no old snapshot can see them any more; while one
 * is held open, every scan from the beginning walks over all of them. So a scan begins at the
 * cursor of the scan before. But a job may come to lie below a mark: it was committed late, put
 * back, let through a gate. Therefore a scan from the beginning is due after every wake-up, after
 * an answer that was shorter than asked, and every few moments, as long as such scans take a small
 * share of the time. However long they take, an idle worker makes one a second and a busy one every
 * ten.
 */
import type { WakeUp } from "../../store.ts";

/** How often to look from the beginning when nothing calls for it. */
const RESCAN_MS = 50;
/** The share of the time that scans from the beginning may take, and how much can be saved up. */
const RESCAN_SHARE = 0.04;
const SAVINGS_MS_MAX = 100;
/** So long after the last one it is made whatever it costs: where nothing was found, and else. */
const IDLE_MS_MAX = 1_000;
const BUSY_MS_MAX = 10_000;
/** ClaimCursor kept for one kind of claim, and kinds of claims. */
const MARKS_MAX = 64;
const KINDS_MAX = 32;

/** Above all priorities. */
const NO_PRIORITY = 2_147_483_647;

/** Where a job lies in the order of its lane. */
export interface Position {
  readonly lane: number;
  readonly priority: number;
  readonly rank: number;
  readonly key: number;
}

/** A part of a lane's order that is to be looked at: from a position up to a priority. */
export interface ClaimRange extends Position {
  readonly end: number;
}

/** The time that scans from the beginning may take. */
class Budget {
  readonly #monotonic: () => number;
  #savedMs = SAVINGS_MS_MAX;
  #at: number;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#at = monotonic();
  }

  hasRoom(): boolean {
    const now = this.#monotonic();
    this.#savedMs = Math.min(SAVINGS_MS_MAX, this.#savedMs + (now - this.#at) * RESCAN_SHARE);
    this.#at = now;
    return this.#savedMs > 0;
  }

  spend(ms: number): void {
    this.#savedMs -= ms;
  }
}

/** The cursor of all claims that one store makes. */
export class LowWaterMarks {
  readonly #monotonic: () => number;
  readonly #budget: Budget;
  readonly #kinds = new Map<string, ClaimCursor>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#budget = new Budget(monotonic);
  }

  /** Those of claims that look for the same: what one passes over, another may want. */
  of(kind: string): ClaimCursor {
    const known = this.#kinds.get(kind);
    if (known !== undefined) return known;
    if (this.#kinds.size >= KINDS_MAX) this.#kinds.clear();
    const cursor = new ClaimCursor(this.#budget, this.#monotonic);
    this.#kinds.set(kind, cursor);
    return cursor;
  }

  /** Something may have come to lie below the cursor. */
  onWakeUp(wakeUp: WakeUp): void {
    if (wakeUp !== "events") for (const cursor of this.#kinds.values()) cursor.requestRescan();
  }
}

/** What was taken, in its order. */
interface Taken {
  readonly places: readonly Position[];
}

/** Takes jobs from these ranges; null stands for whole lanes. */
type Take<Batch extends Taken> = (ranges: readonly ClaimRange[] | null) => Promise<Batch>;

/** The cursor of one kind of claim. */
export class ClaimCursor {
  readonly #budget: Budget;
  readonly #monotonic: () => number;
  /** By lane, then by priority. */
  readonly #lanes = new Map<number, Map<number, Position>>();
  /** When a scan from the beginning is due. */
  #rescanAt = 0;
  #rescannedAt = -Infinity;

  constructor(budget: Budget, monotonic: () => number) {
    this.#budget = budget;
    this.#monotonic = monotonic;
  }

  /** Something may have come to lie below the cursor. */
  requestRescan(): void {
    this.#rescanAt = 0;
  }

  /** Takes from the beginning, if that is due and there is time for it, else from the cursor on. */
  async scan<Batch extends Taken>(limit: number, take: Take<Batch>): Promise<Batch> {
    const isDue = this.#lanes.size === 0 || this.#monotonic() >= this.#rescanAt;
    if (isDue && this.#mayRescan(BUSY_MS_MAX)) return this.#scanFromBeginning(limit, take);
    const batch = await take(this.#ranges());
    this.#advance(batch.places);
    const count = batch.places.length;
    if (count >= limit) return batch;
    this.requestRescan();
    if (count > 0 || !this.#mayRescan(IDLE_MS_MAX)) return batch;
    return this.#scanFromBeginning(limit, take);
  }

  #mayRescan(restMs: number): boolean {
    return this.#budget.hasRoom() || this.#monotonic() - this.#rescannedAt >= restMs;
  }

  async #scanFromBeginning<Batch extends Taken>(limit: number, take: Take<Batch>): Promise<Batch> {
    const startedAt = this.#monotonic();
    this.#rescanAt = startedAt + RESCAN_MS;
    const batch = await take(null);
    this.#rescannedAt = this.#monotonic();
    this.#budget.spend(this.#rescannedAt - startedAt);
    // A full answer has not looked as far as the cursor. A shorter one has, and found no more.
    if (batch.places.length >= limit) this.#lanes.clear();
    this.#advance(batch.places);
    return batch;
  }

  /** What was found is taken, and what lies before it is not wanted. */
  #advance(places: readonly Position[]): void {
    for (const place of places) {
      const cursor = this.#lanes.get(place.lane) ?? new Map<number, Position>();
      this.#lanes.set(place.lane, cursor);
      const mark = cursor.get(place.priority);
      if (mark === undefined || isBeyond(place, mark)) cursor.set(place.priority, place);
    }
    const count = [...this.#lanes.values()].reduce((sum, cursor) => sum + cursor.size, 0);
    if (count > MARKS_MAX) this.#lanes.clear();
  }

  /** Each lane in pieces: before its first mark, and from each mark to the next priority. */
  #ranges(): readonly ClaimRange[] | null {
    if (this.#lanes.size === 0) return null;
    return [...this.#lanes].flatMap(([lane, cursor]) => {
      const sorted = [...cursor.values()].toSorted((left, right) => left.priority - right.priority);
      const beginning = { lane, priority: 0, rank: 0, key: 0 };
      return [beginning, ...sorted].map((place, index) => ({
        ...place,
        end: sorted[index]?.priority ?? NO_PRIORITY,
      }));
    });
  }
}

function isBeyond(place: Position, mark: Position): boolean {
  return place.rank > mark.rank || (place.rank === mark.rank && place.key > mark.key);
}
