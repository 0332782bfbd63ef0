/** How long a job waits before it runs again. */
import { DURATION_MS_MAX } from "./duration.ts";

export interface BackoffPolicy {
  readonly kind: "fixed" | "linear" | "exponential";
  /** The wait after the first failure, before jitter. */
  readonly baseMs: number;
  /** How much longer each exponential wait is than the one before. */
  readonly factor: number;
  /** The share of the wait, 0 to 1, by which it swings to either side. */
  readonly jitter: number;
  readonly capMs: number;
  /**
   * `before-cap`: the wait swings and is capped then, so that all long waits are alike. `cap`: it
   * is capped, swings, and what exceeds the cap is folded down, so that long waits spread below
   * the cap.
   */
  readonly jitterAt: "cap" | "before-cap";
}

/**
 * The wait after the n-th failure, counted from 1, in whole milliseconds.
 *
 * `random` is in [0, 1) and is passed in, so that tests and the simulator own the dice.
 */
export function backoffMs(policy: BackoffPolicy, failures: number, random: number): number {
  const ms = grownMs(policy, failures);
  const swing = 1 + policy.jitter * (2 * random - 1);
  const capMs = Math.min(policy.capMs, DURATION_MS_MAX);
  switch (policy.jitterAt) {
    case "before-cap":
      return Math.round(Math.min(ms * swing, capMs));
    case "cap":
      return Math.round(foldBelow(capMs, Math.min(ms, capMs) * swing));
  }
}

function grownMs({ kind, baseMs, factor }: BackoffPolicy, failures: number): number {
  switch (kind) {
    case "fixed":
      return baseMs;
    case "linear":
      return baseMs * failures;
    case "exponential":
      // Bounded, since Infinity would make NaN of a base or a swing of zero.
      return baseMs * Math.min(factor ** (failures - 1), DURATION_MS_MAX);
  }
}

function foldBelow(capMs: number, ms: number): number {
  return ms > capMs ? 2 * capMs - ms : ms;
}
