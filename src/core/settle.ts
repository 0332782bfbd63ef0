/**
 * Decides about retries, and is the only place that does. A worker calls `settle` after a run, the
 * rescuer after a crash; the store's verb `settle` applies the decision.
 */
import { backoffMs } from "./backoff.ts";
import { formatDuration } from "./duration.ts";
import type { Fault, Outcome, RunFacts, Settlement } from "./outcome.ts";
import { RETRY_AFTER_MS_MAX, type RetryPolicy } from "./policy.ts";

export interface SettleContext {
  readonly policy: RetryPolicy;
  /** Uniform in [0, 1). */
  readonly random: number;
}

/** Turns the outcome of a run into a settlement. */
export function settle(facts: RunFacts, outcome: Outcome, context: SettleContext): Settlement {
  const { tries, crashes } = facts;
  switch (outcome.type) {
    case "succeeded":
      return {
        outcome: "succeeded",
        to: outcome.failedUnits > 0 ? "completed_with_errors" : "completed",
        tries: tries + 1,
        crashes,
        result: outcome.result,
        failedUnits: outcome.failedUnits,
        fault: null,
      };

    case "snoozed":
      return {
        outcome: "snoozed",
        tries,
        crashes,
        fault: outcome.fault ?? null,
        ...after(outcome.delayMs),
      };

    case "interrupted":
      // A deploy is not the job's failure: the job runs again at once, without a charge.
      return { outcome: "interrupted", tries, crashes, fault: null, ...after(0) };

    case "cancelled":
      return { outcome: "cancelled", to: "cancelled", tries, crashes, reason: outcome.reason };

    case "failed":
      return settleFailure(facts, outcome, context);

    case "timed_out":
      return settleFailure(facts, { ...outcome, fault: timeoutFault(outcome.limitMs) }, context);

    case "crashed":
      return settleCrash(facts, outcome.isAlone, context);
  }
}

interface FailedRun {
  readonly type: "failed" | "timed_out";
  readonly fault: Fault;
  readonly retryAfterMs?: number;
}

function settleFailure(facts: RunFacts, failure: FailedRun, context: SettleContext): Settlement {
  const { fault } = failure;
  const ended = { outcome: failure.type, tries: facts.tries + 1, crashes: facts.crashes, fault };

  if (facts.retryOwner === "supervisor") {
    // The queue only delivers. The supervisor reads the fault and decides about a retry.
    return { ...ended, to: "completed", result: null, failedUnits: 0 };
  }
  if (fault.class === "non_retryable") return { ...ended, to: "failed" };
  if (ended.tries >= facts.maxAttempts) return { ...ended, to: "failed" };

  const backoff = context.policy.backoff[fault.class];
  const { retryAfterMs: askedMs } = failure;
  if (askedMs !== undefined) return { ...ended, ...after(Math.min(askedMs, RETRY_AFTER_MS_MAX)) };
  return { ...ended, ...after(backoffMs(backoff, ended.tries, context.random)) };
}

/** Any crash ends the job: it may not run again. */
export function isEndedByCrash({ tries, maxAttempts, onOrphan }: RunFacts): boolean {
  return onOrphan === "fail" || tries + 1 >= maxAttempts;
}

/**
 * A crash counts for every run that the process had begun, because any of them may be the cause. It
 * costs an attempt only if the run was alone, and only then it ends a job, if the job had reached
 * the crash cap before. A crash is retried also when a supervisor owns the retries, because the
 * supervisor has no result to decide on.
 */
function settleCrash(
  facts: RunFacts,
  isAlone: boolean,
  { policy, random }: SettleContext,
): Settlement {
  const crashes = facts.crashes + 1;
  const isEnded = isEndedByCrash(facts);
  const isCharged = isAlone || isEnded;
  const tries = isCharged ? facts.tries + 1 : facts.tries;
  const ended = { outcome: "crashed", tries, crashes } as const;

  if (facts.onOrphan === "fail") {
    const fault = crashFault("The worker died during the run, and onOrphan is fail.");
    return { ...ended, to: "failed", fault };
  }
  if (isAlone && facts.crashes >= policy.crashCap) {
    const fault = crashFault(`The job crashed its worker ${crashes} times, at last alone.`);
    return { ...ended, to: "failed", fault, hasDiedAlone: true };
  }
  if (isEnded) {
    return { ...ended, to: "failed", fault: crashFault("The worker died during the last run.") };
  }
  const fault = crashFault(
    isAlone ? "The worker died during the run." : "The worker died during this run and others.",
  );
  // Of runs with company most are innocent: they wait for the first step of the backoff only.
  const step = isAlone ? crashes : 1;
  return { ...ended, fault, ...after(backoffMs(policy.backoff.retryable, step, random)) };
}

function after(delayMs: number): { to: "scheduled" | "queued"; delayMs: number } {
  return { to: delayMs > 0 ? "scheduled" : "queued", delayMs };
}

function timeoutFault(limitMs: number): Fault {
  const message = `The run exceeded its timeout of ${formatDuration(limitMs)}.`;
  return { class: "retryable", name: "TimeoutError", message };
}

function crashFault(message: string): Fault {
  return { class: "retryable", name: "CrashError", message };
}
