/**
 * The state machine of circuit breakers: one per external service, shared by all workers.
 *
 * - **closed**: calls are made. Failures in a row are counted; too many open the breaker.
 * - **open**: no calls are made until a probe is due. An operator may keep the breaker open.
 * - **half_open**: one run, the probe, makes calls. Its success closes the breaker, its failure
 *   opens the breaker again, and so does its end without a verdict. A probe whose run has ended
 *   and whose worker could not say so is replaced.
 *
 * A probe that succeeds and may have left out the service closes the breaker on trial: the count of
 * failures stays until a call succeeds, so the next failure opens the breaker again.
 *
 * A failure that is not counted belongs to a run that began before the breaker opened.
 */

/** The run of a job, by the key of the job and the number of the run. */
export interface BreakerRun {
  readonly key: number;
  readonly n: number;
}

export interface Breaker {
  readonly state: "closed" | "open" | "half_open";
  /** The number of failures in a row; of a closed breaker on trial, those before the trial. */
  readonly failures: number;
  /** The successes since the last failure, as far as they were stored. */
  readonly successes: number;
  readonly lastFailureAtMs: number | null;
  readonly openedAtMs: number | null;
  readonly halfOpenedAtMs: number | null;
  /** From when on a probe may begin. Null: the breaker is not open, or an operator opened it. */
  readonly probeAtMs: number | null;
  /** The probe of a half-open breaker. */
  readonly probe: BreakerRun | null;
  /** Why the breaker has its state, and who has changed the state. Null: calls have. */
  readonly reason: string | null;
  readonly by: string | null;
}

export interface BreakerLimits {
  /** The number of failures in a row that opens the breaker. */
  readonly failuresMax: number;
  /** How long the breaker stays open before a probe is due. */
  readonly openMs: number;
}

/** The state of a new breaker. */
export const CLOSED: Breaker = Object.freeze({
  state: "closed",
  failures: 0,
  successes: 0,
  lastFailureAtMs: null,
  openedAtMs: null,
  halfOpenedAtMs: null,
  probeAtMs: null,
  probe: null,
  reason: null,
  by: null,
});

/** Whether a new probe may begin. `hasEnded`: the run of the present probe is over. */
export function isProbeDue(breaker: Breaker, nowMs: number, hasEnded: boolean): boolean {
  switch (breaker.state) {
    case "closed":
      return false;
    case "open":
      return (probeAt(breaker, nowMs) ?? Infinity) <= nowMs;
    case "half_open":
      return hasEnded;
  }
}

/**
 * From when on a probe may begin. A breaker that was opened in the future was opened while the
 * clock was ahead: its probe is due now, and not when the wrong time comes.
 */
export function probeAt({ probeAtMs, openedAtMs }: Breaker, nowMs: number): number | null {
  if (probeAtMs === null) return null;
  return openedAtMs !== null && openedAtMs > nowMs ? nowMs : probeAtMs;
}

/** The breaker while this run makes the next calls. */
export function startProbe(breaker: Breaker, run: BreakerRun, nowMs: number): Breaker {
  const probe = { key: run.key, n: run.n };
  return { ...breaker, state: "half_open", halfOpenedAtMs: nowMs, probeAtMs: null, probe };
}

export interface FailedCall {
  readonly run: BreakerRun;
  readonly reason: string;
  readonly nowMs: number;
  readonly limits: BreakerLimits;
}

/** The state after a failed call. `isCounted`: the failure costs the job an attempt. */
export function recordFailure(
  breaker: Breaker,
  call: FailedCall,
): { readonly next: Breaker; readonly isCounted: boolean } {
  if (breaker.state === "open") return { next: breaker, isCounted: false };
  if (breaker.state === "half_open" && !isProbe(breaker, call.run)) {
    return { next: breaker, isCounted: false };
  }
  const { nowMs, limits, reason } = call;
  const failures = breaker.failures + 1;
  const failed = { ...breaker, failures, successes: 0, lastFailureAtMs: nowMs, reason, by: null };
  const isEnough = breaker.state === "half_open" || failures >= limits.failuresMax;
  const next = isEnough ? opened(failed, nowMs, nowMs + limits.openMs) : failed;
  return { next, isCounted: true };
}

/**
 * The state after the end of a run that was the probe and has neither succeeded nor failed: the
 * next probe is due when it would be after a failure. Otherwise an error that says nothing about
 * the service would let one job after the other start.
 */
export function endProbe(breaker: Breaker, end: Omit<FailedCall, "reason">): Breaker {
  if (breaker.state !== "half_open" || !isProbe(breaker, end.run)) return breaker;
  return opened(breaker, end.nowMs, end.nowMs + end.limits.openMs);
}

/** The state after successful calls of one run, or, with null, of runs that are no probe. */
export function recordSuccess(breaker: Breaker, run: BreakerRun | null, count: number): Breaker {
  switch (breaker.state) {
    case "closed":
      // Most successes change nothing, and need not be stored.
      if (breaker.failures === 0) return breaker;
      return { ...breaker, failures: 0, successes: breaker.successes + count, reason: null };
    case "half_open":
      return isProbe(breaker, run) ? { ...closed(breaker), successes: count } : breaker;
    case "open":
      // The call began before the breaker opened, and only a probe closes a breaker.
      return breaker;
  }
}

/** Why a breaker is closed and keeps its failures. */
const ON_TRIAL =
  "the next failure opens the breaker: a probe of several services closed it on trial";

/** The state after the success of a probe that may have called only its other services. */
export function recordImpliedSuccess(breaker: Breaker, run: BreakerRun): Breaker {
  if (breaker.state !== "half_open" || !isProbe(breaker, run)) return breaker;
  return { ...closed(breaker), failures: breaker.failures, reason: ON_TRIAL };
}

/** Opens the breaker by hand. No probe closes it: only {@link reset} does. */
export function forceOpen(
  breaker: Breaker,
  why: { readonly reason: string; readonly by: string | null; readonly nowMs: number },
): Breaker {
  const { reason, by, nowMs } = why;
  const openedAtMs = breaker.openedAtMs ?? nowMs;
  return { ...opened(breaker, openedAtMs, null), reason, by };
}

/** Closes the breaker by hand. */
export function reset(breaker: Breaker, by: string | null): Breaker {
  return { ...closed(breaker), by };
}

function opened(breaker: Breaker, nowMs: number, probeAtMs: number | null): Breaker {
  return {
    ...breaker,
    state: "open",
    openedAtMs: nowMs,
    halfOpenedAtMs: null,
    probeAtMs,
    probe: null,
  };
}

/** The time of the last failure is kept for diagnosis. */
function closed({ lastFailureAtMs }: Breaker): Breaker {
  return { ...CLOSED, lastFailureAtMs };
}

function isProbe({ probe }: Breaker, run: BreakerRun | null): boolean {
  return probe !== null && run !== null && probe.key === run.key && probe.n === run.n;
}
