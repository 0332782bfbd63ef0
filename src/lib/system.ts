/** The real clock and the real dice: the only file that may touch either. */
import { randomFillSync } from "node:crypto";
import { performance } from "node:perf_hooks";

const TIMER_MS_MAX = 2 ** 31 - 1;

/** The host's clock. */
export const systemClock: {
  now(): number;
  monotonic(): number;
  after(ms: number, wake: () => void): () => void;
} = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, wake) {
    let timer: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      // Beyond that, Node fires at once instead of in a month.
      const sliceMs = Math.min(leftMs, TIMER_MS_MAX);
      timer = setTimeout(() => (leftMs > sliceMs ? arm(leftMs - sliceMs) : wake()), sliceMs);
    };
    arm(ms);
    return () => clearTimeout(timer);
  },
};

/** Cryptographic chance. */
export const systemDice: { random(): number; bytes(count: number): Uint8Array } = {
  random: () => Math.random(),
  bytes: (count) => randomFillSync(new Uint8Array(count)),
};

/** Runs `work` in a later turn of the event loop, after the I/O that is already waiting. */
export function soon(work: () => void): void {
  setImmediate(work);
}
