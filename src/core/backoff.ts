/** Computes how long a job waits before its next attempt. */
import { DURATION_MS_MAX } from "./duration.ts";

export interface BackoffPolicy {
  readonly kind: "fixed" | "linear" | "exponential";
  /** The wait after the first failure, before jitter. */
  readonly baseMs: number;
  /** The quotient of two consecutive exponential waits. */
  readonly factor: number;
  /** The share of the wait, 0 to 1, by which the wait varies in either direction. */
  readonly jitter: number;
  readonly capMs: number;
  /**
   * `before-cap`: jitter is applied before the cap, so that all long waits are equal. `cap`: jitter
   * is applied after the cap, and the excess is folded down, so that long waits spread below the
   * cap.
   */
  readonly jitterAt: "cap" | "before-cap";
}

/**
 * The wait after the n-th failure, counted from 1, in whole milliseconds.
 *
 * `random` is in [0, 1) and is an argument, so that tests and the simulator control it.
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
      // Bounded, because Infinity times a base or a swing of zero is NaN.
      return baseMs * Math.min(factor ** (failures - 1), DURATION_MS_MAX);
  }
}

function foldBelow(capMs: number, ms: number): number {
  return ms > capMs ? 2 * capMs - ms : ms;
}
