/** The real clock and the real dice. No other file may read the time or draw random numbers. */
import { randomFillSync } from "node:crypto";

const TIMER_MS_MAX = 2 ** 31 - 1;
const NANOS_PER_MS = 1e6;

/** The host's clock. */
export const systemClock: {
  now(): number;
  monotonic(): number;
  after(ms: number, wake: () => void): () => void;
} = {
  now: () => Date.now(),
  // Unlike performance.now, with the same origin in all threads of a process.
  monotonic: () => Number(process.hrtime.bigint()) / NANOS_PER_MS,
  after(ms, wake) {
    if (ms > TIMER_MS_MAX) return afterLong(ms, wake);
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
};

/** A timer beyond the maximum of Node, which would fire at once. */
function afterLong(ms: number, wake: () => void): () => void {
  let cancel = (): void => {};
  const arm = (leftMs: number): void => {
    const sliceMs = Math.min(leftMs, TIMER_MS_MAX);
    const next = (): void => (leftMs > sliceMs ? arm(leftMs - sliceMs) : wake());
    cancel = systemClock.after(sliceMs, next);
  };
  arm(ms);
  return () => cancel();
}

/** Calls `wake` once after `ms`. The timer does not keep the process alive. */
export function backgroundTimer(ms: number, wake: () => void): () => void {
  const timer = setTimeout(wake, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

/** The host's random numbers; bytes are cryptographically random. */
export const systemDice: { random(): number; bytes(count: number): Uint8Array } = {
  random: () => Math.random(),
  bytes: (count) => randomFillSync(new Uint8Array(count)),
};

/** Runs `work` in a later turn of the event loop, after the pending I/O. */
export function soon(work: () => void): void {
  setImmediate(work);
}
