/**
 * The units of one `ctx.each` that have not begun, and which of them is next.
 *
 * Units whose lock is taken are skipped and retried later. When a unit has ended, the next skipped
 * unit of the same lock comes first. When all units have begun or are skipped, the locks of the
 * skipped units are requested again.
 */
import type { RunLocks } from "./locks.ts";

export interface UnitQueueParts {
  readonly units: readonly string[];
  /** Null: the units need no lock. */
  readonly locks: UnitLocks | null;
  readonly signal: AbortSignal;
}

export interface UnitLocks {
  /** The lock of each unit. */
  readonly names: ReadonlyMap<string, string>;
  readonly runLocks: RunLocks;
}

export class UnitQueue {
  readonly #parts: UnitQueueParts;
  /** Skipped units by lock, in their order. */
  readonly #skipped = new Map<string, SkippedUnits>();
  /** Units whose lock was acquired by the last retry. */
  readonly #ready: string[] = [];
  #next = 0;
  #begun = 0;
  #retrying: Promise<void> | null = null;
  #isEnded = false;

  constructor(parts: UnitQueueParts) {
    this.#parts = parts;
  }

  /** The lock that a unit needs. */
  lockOf(unit: string): string | null {
    return this.#parts.locks?.names.get(unit) ?? null;
  }

  /** Whether there are units that have not begun. */
  get hasMore(): boolean {
    return this.#begun < this.#parts.units.length;
  }

  /** Whether units need locks, so that the next unit is not known before its lock is acquired. */
  get hasLocks(): boolean {
    return this.#parts.locks !== null;
  }

  /** The next unit of a list without locks, which is about to begin; null: no unit is left. */
  reserve(): string | null {
    if (this.hasLocks || this.#isOver) return null;
    const unit = this.#parts.units[this.#next];
    if (unit === undefined) return null;
    this.#next += 1;
    return unit;
  }

  /** A unit that begins now; null: no unit is left. `ended` is the caller's last unit. */
  async next(ended: string | null): Promise<string | null> {
    return this.begin(await this.#find(ended === null ? null : this.lockOf(ended)));
  }

  /** The unit that {@link reserve} has answered begins; null: the run is over, or there is none. */
  begin(unit: string | null): string | null {
    if (unit === null) return null;
    if (this.#isOver) {
      this.release(unit);
      return null;
    }
    this.#begun += 1;
    return unit;
  }

  /** Releases the lock of a unit that has ended. */
  release(unit: string): void {
    const lock = this.lockOf(unit);
    if (lock !== null) this.#parts.locks?.runLocks.release(lock);
  }

  /** No other unit begins. */
  end(): void {
    this.#isEnded = true;
    for (const unit of this.#ready.splice(0)) this.release(unit);
    this.#parts.locks?.runLocks.wake();
  }

  get #isOver(): boolean {
    return this.#isEnded || this.#parts.signal.aborted;
  }

  async #find(released: string | null): Promise<string | null> {
    const { units, locks } = this.#parts;
    const isWanted = released !== null && this.#skipped.has(released);
    const isAcquired = isWanted && (await locks?.runLocks.acquire(released)) === true;
    const successor = isAcquired ? this.#takeSkipped(released) : null;
    if (successor !== null) return successor;
    while (!this.#isOver) {
      const unit = this.#ready.shift() ?? (await this.#takeUntried());
      if (unit !== null) return unit;
      if (this.#next < units.length) continue;
      if (this.#skipped.size === 0 && this.#ready.length === 0) return null;
      if (locks !== null) await (this.#retrying ??= this.#retrySkipped(locks));
    }
    return null;
  }

  /** The next unit of the list, if its lock is free; otherwise the unit is skipped. */
  async #takeUntried(): Promise<string | null> {
    const { units, locks } = this.#parts;
    const unit = units[this.#next];
    if (unit === undefined) return null;
    this.#next += 1;
    const lock = this.lockOf(unit);
    if (lock === null || (await locks?.runLocks.acquire(lock)) === true) return unit;
    const skipped = this.#skipped.get(lock);
    if (skipped === undefined) this.#skipped.set(lock, { units: [unit], next: 0 });
    else skipped.units.push(unit);
    return null;
  }

  /** Requests the locks of skipped units, and waits for a change if all of them are taken. */
  async #retrySkipped({ runLocks }: UnitLocks): Promise<void> {
    // Before the request, so that a change during the request counts as well.
    const changed = runLocks.changed();
    try {
      const acquired = await runLocks.acquireSome([...this.#skipped.keys()]);
      for (const lock of acquired) this.#ready.push(...listOf(this.#takeSkipped(lock)));
      if (this.#isOver) this.end();
      else if (acquired.length === 0) await changed;
    } finally {
      this.#retrying = null;
    }
  }

  /** The first skipped unit of an acquired lock; without such a unit the lock is released. */
  #takeSkipped(lock: string): string | null {
    const skipped = this.#skipped.get(lock);
    const unit = skipped?.units[skipped.next];
    if (skipped === undefined || unit === undefined) {
      this.#parts.locks?.runLocks.release(lock);
      return null;
    }
    skipped.next += 1;
    if (skipped.next === skipped.units.length) this.#skipped.delete(lock);
    return unit;
  }
}

/** Units that wait for one lock. An index, because a shift of a long array would move all units. */
interface SkippedUnits {
  readonly units: string[];
  next: number;
}

function listOf(unit: string | null): readonly string[] {
  return unit === null ? [] : [unit];
}
