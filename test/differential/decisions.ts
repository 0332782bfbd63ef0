/** The decisions that the house would make, without chance. */
import type { Outcome, RunFacts, Settlement } from "../../src/core/outcome.ts";
import { settle } from "../../src/core/settle.ts";
import { fault } from "../support/factories.ts";
import type { End } from "./commands.ts";

const CONTEXT = {
  policy: {
    maxAttempts: 3,
    crashCap: 1,
    defaultErrorClass: "retryable",
    backoff: { transient: waiting(0), retryable: waiting(7), rate_limited: waiting(900) },
  },
  random: 0.5,
} as const;

function waiting(baseMs: number) {
  return { kind: "fixed", baseMs, factor: 1, jitter: 0, capMs: 1_000, jitterAt: "cap" } as const;
}

/** What happens next when a run has ended like this. */
export function endDecision(end: End): (facts: RunFacts) => Settlement {
  return (facts) => settle(facts, outcomeOf(end), CONTEXT);
}

/** What happens to a run whose worker died. */
export function crashDecision(facts: RunFacts, isAlone: boolean): Settlement {
  return settle(facts, { type: "crashed", isAlone }, CONTEXT);
}

/** The same without a wait. */
export function restartDecision(facts: RunFacts, isAlone: boolean): Settlement {
  const next = crashDecision(facts, isAlone);
  return next.to === "scheduled" ? { ...next, to: "queued", delayMs: 0 } : next;
}

function outcomeOf(end: End): Outcome {
  switch (end) {
    case "succeeded":
      return { type: "succeeded", result: '{"sum": 12.50}', failedUnits: 0 };
    case "partly":
      return { type: "succeeded", result: null, failedUnits: 2 };
    case "failed":
      return { type: "failed", fault: fault({ service: "mail" }) };
    case "hopeless":
      return { type: "failed", fault: fault({ class: "non_retryable", message: "“4711” „ü“" }) };
    case "timed_out":
      return { type: "timed_out", limitMs: 1_000 };
    case "crashed":
      return { type: "crashed", isAlone: false };
    case "cancelled":
      return { type: "cancelled", reason: "not wanted" };
    case "interrupted":
      return { type: "interrupted" };
    case "snoozed":
      return { type: "snoozed", delayMs: 25 };
  }
}
