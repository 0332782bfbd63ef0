/** A clock that only the test moves. */
import type { Clock } from "../core/clock.ts";

export interface TestClock extends Clock {
  /** The number of timers that have not fired. */
  readonly pending: number;
}

export interface MovableClock extends TestClock {
  /**
   * Moves time forward. Due timers fire in order, each at its own time. `settled` is awaited after
   * each timer, because its work may set timers that are due within the same move.
   */
  move(ms: number, settled: () => Promise<void>): Promise<void>;
}

interface Timer {
  readonly dueAt: number;
  readonly wake: () => void;
}

/** A Monday morning. */
const START_AT = Date.UTC(2026, 0, 5, 9);

export function makeTestClock(startAt: number = START_AT): MovableClock {
  let elapsedMs = 0;
  const timers = new Set<Timer>();

  return {
    get pending() {
      return timers.size;
    },
    // Whole milliseconds, as the clock of a host: a timer may be due at a fraction.
    now: () => startAt + Math.floor(elapsedMs),
    monotonic: () => elapsedMs,
    after(ms, wake) {
      const timer = { dueAt: elapsedMs + Math.max(0, ms), wake };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async move(ms, settled) {
      const until = elapsedMs + ms;
      await settled();
      for (let timer = nextDue(timers, until); timer; timer = nextDue(timers, until)) {
        timers.delete(timer);
        elapsedMs = Math.max(elapsedMs, timer.dueAt);
        timer.wake();
        await settled();
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
