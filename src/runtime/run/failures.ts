/** What a thrown value means for the run, or the unit, that it ended. */
import type { Clock } from "../../core/clock.ts";
import { MillraceError, NonRetryableError } from "../../core/errors.ts";
import type { Outcome } from "../../core/outcome.ts";
import { classify } from "../../core/policy.ts";
import type { Preset } from "../../core/presets.ts";
import type { Definition } from "../../api/definition.ts";

export interface FailureParts {
  readonly definition: Definition;
  readonly preset: Preset;
  readonly clock: Clock;
}

export type Failure = Extract<Outcome, { type: "failed" }>;

/** A thrown value may be anything, even one that throws when it is looked at. */
export function failureOf(error: unknown, parts: FailureParts): Failure {
  try {
    return read(error, parts);
  } catch {
    return read(new Error("the handler threw a value that cannot be read"), parts);
  }
}

function read(error: unknown, { definition, preset, clock }: FailureParts): Failure {
  return classify(isRefusedResult(error) ? asFinal(error) : error, {
    classify: definition.settings.classify,
    defaultErrorClass: preset.retry.defaultErrorClass,
    nowMs: clock.now(),
  });
}

/** A result that cannot be stored will not be better next time. */
function isRefusedResult(error: unknown): error is MillraceError {
  return error instanceof MillraceError && error.code === "RESULT_REFUSED";
}

function asFinal(error: MillraceError): NonRetryableError {
  return new NonRetryableError(error.message, { cause: error });
}
