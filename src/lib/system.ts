/** The real clock and the real dice: the only file that may touch either. */
import { randomFillSync } from "node:crypto";
import { performance } from "node:perf_hooks";

/** The host's clock. */
export const systemClock: {
  now(): number;
  monotonic(): number;
  after(ms: number, wake: () => void): () => void;
} = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, wake) {
    const timer = setTimeout(wake, ms);
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
