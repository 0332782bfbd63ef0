/**
 * The state machine of circuit breakers: one per external service, shared by all workers.
 *
 * - **closed**: calls are allowed. Consecutive failures are counted; too many open the breaker.
 * - **open**: calls are refused. After `openMs` the next call becomes the probe.
 * - **half_open**: one probe runs and all other calls are refused. The probe's success closes the
 *   breaker, its failure opens it again. A probe without a result after `openMs` is replaced.
 */

export interface BreakerState {
  readonly state: "closed" | "open" | "half_open";
  /** The number of consecutive failures. */
  readonly failures: number;
  /** The successes since the breaker was closed. */
  readonly successes: number;
  readonly lastFailureAtMs: number | null;
  readonly openedAtMs: number | null;
  /** The time at which the probe was allowed. */
  readonly halfOpenedAtMs: number | null;
}

export interface BreakerOptions {
  /** The number of consecutive failures that opens the breaker. */
  readonly failuresMax: number;
  /** How long the breaker stays open before a probe is allowed. */
  readonly openMs: number;
}

export interface BreakerAnswer {
  readonly allowed: boolean;
  /** The state to store. Allowing a probe changes it. */
  readonly next: BreakerState;
}

/** The state of a new breaker. */
export const CLOSED: BreakerState = Object.freeze({
  state: "closed",
  failures: 0,
  successes: 0,
  lastFailureAtMs: null,
  openedAtMs: null,
  halfOpenedAtMs: null,
});

/** Decides whether a call may be made now. */
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

/** The state after a failed call. */
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
      // The call started before the breaker opened, so that its failure does not prolong the wait.
      return failed;
  }
}

/** The state after a successful call. */
export function recordSuccess(breaker: BreakerState): BreakerState {
  switch (breaker.state) {
    case "closed":
      return { ...breaker, failures: 0, successes: breaker.successes + 1 };
    case "half_open":
      return { ...reset(breaker), successes: 1 };
    case "open":
      // The call started before the breaker opened, and only a probe closes a breaker.
      return breaker;
  }
}

/** Opens the breaker, by hand or after too many failures. */
export function forceOpen(breaker: BreakerState, nowMs: number): BreakerState {
  return { ...breaker, state: "open", successes: 0, openedAtMs: nowMs, halfOpenedAtMs: null };
}

/** Closes the breaker by hand. The time of the last failure is kept for diagnosis. */
export function reset(breaker: BreakerState): BreakerState {
  return { ...CLOSED, lastFailureAtMs: breaker.lastFailureAtMs };
}
