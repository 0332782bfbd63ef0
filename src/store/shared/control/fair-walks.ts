/**
 * How far `giveTurns` has looked at the jobs behind the oldest of each fair lane.
 *
 * A call passes a bounded number of jobs. They are shared by the walks that have not reached the
 * end of their jobs; a walk that has reached it rests until the others have. So many lanes with
 * short backlogs do not slow down the walk through a long one.
 */
import type { LanePlace } from "./fair-rows.ts";

/** How many jobs behind the oldest a call passes, for each job that it may look at. */
const WALK_PER_JOB = 8;

export class FairWalks {
  /** Null: the walk has reached the end. */
  readonly #places = new Map<string, LanePlace | null>();
  #share = 0;

  /** Begins a call for these walks, which may look at so many jobs. */
  begin(names: readonly string[], limit: number): void {
    const known = new Set(names);
    for (const name of this.#places.keys()) if (!known.has(name)) this.#places.delete(name);
    if (names.every((name) => this.hasEnded(name))) this.#places.clear();
    const open = names.filter((name) => !this.hasEnded(name)).length;
    this.#share = Math.ceil((limit * WALK_PER_JOB) / Math.max(1, open));
  }

  /** How many jobs a walk passes in this call. */
  get share(): number {
    return this.#share;
  }

  hasEnded(name: string): boolean {
    return this.#places.get(name) === null;
  }

  /** Where the last call has stopped. */
  placeOf(name: string): LanePlace | undefined {
    return this.#places.get(name) ?? undefined;
  }

  /** The walk has come to this place. Null: to the end. */
  stop(name: string, place: LanePlace | null): void {
    this.#places.set(name, place);
  }
}
