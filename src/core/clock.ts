/**
 * Time and chance, the two ports of a pure world. Nothing else in the source may read a clock, set
 * a timer or roll dice, so that tests and the simulator own both. The real ones are in
 * `lib/system.ts`.
 */

/** A source of time. `now` may jump with the host's clock; `monotonic` never does. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some fixed moment: for lengths, never for instants. */
  monotonic(): number;
  /** Calls `wake` once after `ms`. Answers a function that calls it off. */
  after(ms: number, wake: () => void): () => void;
}

/** Resolves after `ms`. */
export function wait(clock: Pick<Clock, "after">, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

/**
 * Resolves when `promise` does, or after `ms`, whichever comes first. No timer is left behind: one
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

/** A source of chance. */
export interface Dice {
  /** Uniform in [0, 1). */
  random(): number;
  /** `count` unpredictable bytes: ids and secrets are made of them. */
  bytes(count: number): Uint8Array;
}
