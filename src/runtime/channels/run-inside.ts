/** What channels and supervisors do with a run beyond its context. */
import type { Fault, Outcome } from "../../core/outcome.ts";
import { encodePayload } from "../../core/payload.ts";
import type { CallFailure, RunInside } from "../../api/channels/run-inside.ts";
import { failureOf, type FailureParts } from "../run/failures.ts";
import { Snooze } from "../run/snooze.ts";
import { isUnwinding } from "../run/units.ts";

interface InsideParts {
  readonly failureParts: FailureParts;
  /** Whether an error is an effect of the interruption of the run. */
  readonly isInterrupted: (error: unknown) => boolean;
  /** The outcome, after the breakers of services know. */
  readonly judge: (outcome: Outcome) => Outcome | Promise<Outcome>;
  readonly answerOf: RunInside["answerOf"];
  readonly isStored: RunInside["isStored"];
  readonly serviceAnswered: RunInside["serviceAnswered"];
  readonly jobOf: RunInside["jobOf"];
}

export function runInside(parts: InsideParts): RunInside {
  const { job, definition, clock } = parts.failureParts;
  // Another version of the payload has another text than the payload that the handler gets.
  const isAsStored = job.payloadVersion === null && definition.settings.upcast === undefined;
  return {
    maxAttempts: job.maxAttempts,
    now: () => clock.now(),
    failureOf: (error) => {
      if (isUnwinding(error) || parts.isInterrupted(error)) throw error;
      return failureOf(error, parts.failureParts);
    },
    judge: (failure) => judged(parts, failure),
    textOf: (payload) => (isAsStored ? job.payload : encodePayload(payload).text) ?? "{}",
    answerOf: parts.answerOf,
    isStored: parts.isStored,
    sendBack: (delayMs, error) => {
      throw new Snooze(delayMs, failureOf(error, parts.failureParts).fault);
    },
    serviceAnswered: parts.serviceAnswered,
    jobOf: parts.jobOf,
  };
}

/** Before the end of the run: a failure that costs no attempt has no other effect either. */
async function judged({ judge }: InsideParts, failure: CallFailure): Promise<Fault> {
  const outcome = await judge(failure);
  if (outcome.type === "snoozed") throw new Snooze(outcome.delayMs, outcome.fault ?? null);
  return outcome.type === "failed" ? outcome.fault : failure.fault;
}
