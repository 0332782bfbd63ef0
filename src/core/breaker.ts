/**
 * The arithmetic of circuit breakers: one per external service, stored, shared by all workers.
 *
 * - **closed**: calls go through; failures in a row are counted, and too many open it.
 * - **open**: calls are refused. After `openMs` the next caller becomes the probe.
 * - **half_open**: one probe is under way and all others are refused. Its success closes the
 *   breaker, its failure opens it anew. A probe that is not heard of for `openMs` is taken for
 *   dead and replaced.
 */

export interface BreakerState {
  readonly state: "closed" | "open" | "half_open";
  /** In a row. */
  readonly failures: number;
  /** Since it was closed. */
  readonly successes: number;
  readonly lastFailureAtMs: number | null;
  readonly openedAtMs: number | null;
  /** When the probe was let through. */
  readonly halfOpenedAtMs: number | null;
}

export interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly failuresMax: number;
  /** How long it stays open before a probe is let through. */
  readonly openMs: number;
}

export interface BreakerAnswer {
  readonly allowed: boolean;
  /** The state to store: letting a probe through changes it. */
  readonly next: BreakerState;
}

/** A breaker of which nothing is known. */
export const CLOSED: BreakerState = Object.freeze({
  state: "closed",
  failures: 0,
  successes: 0,
  lastFailureAtMs: null,
  openedAtMs: null,
  halfOpenedAtMs: null,
});

/** Whether a call may be made now. */
export function allows(
  breaker: BreakerState,
  nowMs: number,
  { openMs }: BreakerOptions,
): BreakerAnswer {
  if (breaker.state === "closed") return { allowed: true, next: breaker };

  const sinceMs = breaker.state === "open" ? breaker.openedAtMs : breaker.halfOpenedAtMs;
  if (sinceMs !== null && nowMs - sinceMs < openMs) return { allowed: false, next: breaker };
  return { allowed: true, next: { ...breaker, state: "half_open", halfOpenedAtMs: nowMs } };
}

/** A call failed. */
export function recordFailure(
  breaker: BreakerState,
  nowMs: number,
  { failuresMax }: BreakerOptions,
): BreakerState {
  const failed = { ...breaker, failures: breaker.failures + 1, lastFailureAtMs: nowMs };
  switch (breaker.state) {
    case "closed":
      return failed.failures >= failuresMax ? forceOpen(failed, nowMs) : failed;
    case "half_open":
      return forceOpen(failed, nowMs);
    case "open":
      // A call from before it opened: it proves nothing new, so the wait is not prolonged.
      return failed;
  }
}

/** A call succeeded. */
export function recordSuccess(breaker: BreakerState): BreakerState {
  switch (breaker.state) {
    case "closed":
      return { ...breaker, failures: 0, successes: breaker.successes + 1 };
    case "half_open":
      return { ...reset(breaker), successes: 1 };
    case "open":
      // A call from before it opened: only a probe closes a breaker.
      return breaker;
  }
}

/** Opens it from now on, by hand or after too many failures. */
export function forceOpen(breaker: BreakerState, nowMs: number): BreakerState {
  return { ...breaker, state: "open", successes: 0, openedAtMs: nowMs, halfOpenedAtMs: null };
}

/** Closes it by hand. The time of the last failure stays, for those who look for the cause. */
export function reset(breaker: BreakerState): BreakerState {
  return { ...CLOSED, lastFailureAtMs: breaker.lastFailureAtMs };
}
