/** A clock that stands still until it is told to move: tests own time. */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../src/core/clock.ts";

export interface VirtualClock extends Clock {
  /** Moves time forward. Timers that fall due on the way fire at their own moment, in order. */
  advance(ms: number): Promise<void>;
}

interface Timer {
  readonly dueAt: number;
  readonly wake: () => void;
}

const START_AT = Date.UTC(2026, 0, 5, 9);

/** Makes a clock that starts on a Monday morning, or at `startAt`. */
export function virtualClock(startAt: number = START_AT): VirtualClock {
  let elapsedMs = 0;
  const timers = new Set<Timer>();

  return {
    now: () => startAt + elapsedMs,
    monotonic: () => elapsedMs,
    after(ms, wake) {
      const timer = { dueAt: elapsedMs + Math.max(0, ms), wake };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const until = elapsedMs + ms;
      for (let timer = nextDue(timers, until); timer; timer = nextDue(timers, until)) {
        timers.delete(timer);
        elapsedMs = Math.max(elapsedMs, timer.dueAt);
        timer.wake();
        // What the timer began may set timers of its own that are due within this move.
        await setImmediate();
      }
      elapsedMs = Math.max(elapsedMs, until);
    },
  };
}

/** The earliest timer due by `until`; among equals the one set first. */
function nextDue(timers: ReadonlySet<Timer>, until: number): Timer | undefined {
  let next: Timer | undefined;
  for (const timer of timers) {
    if (timer.dueAt <= until && (!next || timer.dueAt < next.dueAt)) next = timer;
  }
  return next;
}
