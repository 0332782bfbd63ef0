/** The clock of the test kit, moved without a kit around it. */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../src/core/clock.ts";
import { makeTestClock } from "../../src/testing/test-clock.ts";

export interface VirtualClock extends Clock {
  /** The same with another wait after each timer, for stores whose answers take time. */
  move(ms: number, settled: () => Promise<void>): Promise<void>;
  /** Moves time forward. Timers that fall due on the way fire at their own moment, in order. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock back. Timers and elapsed time go on. */
  setBack(ms: number): void;
}

/** Makes a clock that starts on a Monday morning, or at `startAt`. */
export function virtualClock(startAt?: number): VirtualClock {
  const clock = makeTestClock(startAt);
  let backMs = 0;
  return {
    now: () => clock.now() - backMs,
    monotonic: () => clock.monotonic(),
    after: (ms, wake) => clock.after(ms, wake),
    // A turn of the loop after each timer: what it began may set timers of its own.
    advance: (ms) => clock.move(ms, () => setImmediate()),
    move: (ms, settled) => clock.move(ms, settled),
    setBack: (ms) => {
      backMs += ms;
    },
  };
}
