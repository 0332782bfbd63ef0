/** The last day of a breaker as stretches of one state. Pure. */
import type { BreakerChange } from "../../api/operations.gen.ts";

export type BreakerState = BreakerChange["state"];

export interface Stretch {
  /** `unknown`: older than the changes that were read. */
  readonly state: BreakerState | "unknown";
  /** Shares of the day, from 0 to 1. */
  readonly from: number;
  readonly to: number;
}

export const DAY_MS = 86_400_000;

/** A breaker becomes half open from open, and closed from one of both. */
const BEFORE: Readonly<Record<BreakerState, BreakerState>> = {
  open: "closed",
  half_open: "open",
  closed: "half_open",
};

/**
 * `changes` in any order; the state before the first known change is what leads to it, and not
 * known when there are older changes that were not read.
 */
export function dayOf(
  changes: readonly Pick<BreakerChange, "at" | "state">[],
  present: BreakerState,
  now: number,
  hasOlder = false,
): readonly Stretch[] {
  const start = now - DAY_MS;
  const sorted = changes
    .map(({ at, state }) => ({ at: Date.parse(at), state }))
    .toSorted((one, other) => one.at - other.at);
  const within = sorted.filter(({ at }) => at > start && at <= now);
  const last = sorted.findLast(({ at }) => at <= start);
  const [first] = within;
  const before = first === undefined ? present : BEFORE[first.state];
  const begin: Stretch["state"] = last?.state ?? (hasOlder ? "unknown" : before);
  const points = [{ at: start, state: begin }, ...within];
  return points.map(({ at, state }, index) => ({
    state,
    from: (at - start) / DAY_MS,
    to: ((points[index + 1]?.at ?? now) - start) / DAY_MS,
  }));
}

/** How much of the day it was not closed, from 0 to 1. */
export function shareNotClosed(stretches: readonly Stretch[]): number {
  return stretches
    .filter(({ state }) => state === "open" || state === "half_open")
    .reduce((total, { from, to }) => total + to - from, 0);
}
