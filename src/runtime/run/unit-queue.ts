/**
 * The units of one `ctx.each` that have yet to begin, and which of them is next.
 *
 * A unit whose exclusive name is taken steps aside, and those behind it go first. When a unit has
 * ended, the next one of the same name is first in line for its place; when there is nothing else
 * to do, those that stepped aside are looked at again.
 */
import type { RunLocks } from "./locks.ts";

export interface UnitQueueParts {
  readonly units: readonly string[];
  /** Null: they need nothing for themselves. */
  readonly exclusive: Exclusive | null;
  readonly signal: AbortSignal;
}

export interface Exclusive {
  /** The name of each unit. */
  readonly names: ReadonlyMap<string, string>;
  /** The names of the whole run. */
  readonly taken: RunLocks;
}

export class UnitQueue {
  readonly #parts: UnitQueueParts;
  /** Units that have stepped aside, by name, in their order. */
  readonly #aside = new Map<string, Line>();
  /** Units that have got their name at the last look. */
  readonly #ready: string[] = [];
  #next = 0;
  #begun = 0;
  #looking: Promise<void> | null = null;
  #isEnded = false;

  constructor(parts: UnitQueueParts) {
    this.#parts = parts;
  }

  /** The exclusive name of a unit. */
  nameOf(unit: string): string | null {
    return this.#parts.exclusive?.names.get(unit) ?? null;
  }

  /** Whether there are units that have not begun. */
  get hasMore(): boolean {
    return this.#begun < this.#parts.units.length;
  }

  /** A unit that begins now; null: no more will. `ended` is the last one of the same place. */
  async next(ended: string | null): Promise<string | null> {
    const unit = await this.#find(ended === null ? null : this.nameOf(ended));
    if (unit === null) return null;
    if (this.#isOver) {
      this.leave(unit);
      return null;
    }
    this.#begun += 1;
    return unit;
  }

  /** A unit has ended, and whoever waits for its name may go on. */
  leave(unit: string): void {
    const name = this.nameOf(unit);
    if (name !== null) this.#parts.exclusive?.taken.leave(name);
  }

  /** No other unit begins. */
  end(): void {
    this.#isEnded = true;
    for (const unit of this.#ready.splice(0)) this.leave(unit);
    this.#parts.exclusive?.taken.wake();
  }

  get #isOver(): boolean {
    return this.#isEnded || this.#parts.signal.aborted;
  }

  async #find(left: string | null): Promise<string | null> {
    const { units, exclusive } = this.#parts;
    const isAwaited = left !== null && this.#aside.has(left);
    const isFree = isAwaited && (await exclusive?.taken.take(left)) === true;
    const follower = isFree ? this.#called(left) : null;
    if (follower !== null) return follower;
    while (!this.#isOver) {
      const unit = this.#ready.shift() ?? (await this.#untried());
      if (unit !== null) return unit;
      if (this.#next < units.length) continue;
      if (this.#aside.size === 0 && this.#ready.length === 0) return null;
      if (exclusive !== null) await (this.#looking ??= this.#look(exclusive));
    }
    return null;
  }

  /** The next unit of the list, if it can have its name. */
  async #untried(): Promise<string | null> {
    const { units, exclusive } = this.#parts;
    const unit = units[this.#next];
    if (unit === undefined) return null;
    this.#next += 1;
    const name = this.nameOf(unit);
    if (name === null || (await exclusive?.taken.take(name)) === true) return unit;
    const line = this.#aside.get(name);
    if (line === undefined) this.#aside.set(name, { units: [unit], next: 0 });
    else line.units.push(unit);
    return null;
  }

  /** Asks for the names of those that stepped aside, and waits for a change if there is none. */
  async #look({ taken }: Exclusive): Promise<void> {
    // What changes while they are asked for counts as well.
    const changed = taken.changed();
    try {
      const had = await taken.takeSome([...this.#aside.keys()]);
      for (const name of had) this.#ready.push(...listOf(this.#called(name)));
      if (this.#isOver) this.end();
      else if (had.length === 0) await changed;
    } finally {
      this.#looking = null;
    }
  }

  /** The first unit that waits for a name which can be had now. */
  #called(name: string): string | null {
    const line = this.#aside.get(name);
    const unit = line?.units[line.next];
    if (line === undefined || unit === undefined) {
      this.#parts.exclusive?.taken.leave(name);
      return null;
    }
    line.next += 1;
    if (line.next === line.units.length) this.#aside.delete(name);
    return unit;
  }
}

/** Units that wait for one name. There may be very many: none is moved when the first one goes. */
interface Line {
  readonly units: string[];
  next: number;
}

function listOf(unit: string | null): readonly string[] {
  return unit === null ? [] : [unit];
}
