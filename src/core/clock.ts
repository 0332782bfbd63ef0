/**
 * The ports for time and randomness. No other code reads a clock, sets a timer or draws random
 * numbers, so that tests and the simulator control both. The real implementations are in
 * `lib/system.ts`.
 */

/** A source of time. `now` may jump with the host's clock; `monotonic` never does. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since a fixed point: for durations, never for instants. */
  monotonic(): number;
  /** Calls `wake` once after `ms`. The returned function cancels the timer. */
  after(ms: number, wake: () => void): () => void;
}

/** Resolves after `ms`. */
export function wait(clock: Pick<Clock, "after">, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

/**
 * Resolves when `promise` settles, or after `ms`. The timer is cancelled, because a pending timer
 * would keep the process alive.
 */
export async function within(
  clock: Pick<Clock, "after">,
  ms: number,
  promise: Promise<unknown>,
): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const stop = clock.after(ms, resolve);
  try {
    await Promise.race([promise, late]);
  } finally {
    stop();
  }
}

/** A source of randomness. */
export interface Dice {
  /** Uniform in [0, 1). */
  random(): number;
  /** `count` unpredictable bytes, for ids and secrets. */
  bytes(count: number): Uint8Array;
}
