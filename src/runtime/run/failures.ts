/** Classifies the error of a failed run or unit. */
import type { Clock } from "../../core/clock.ts";
import { MillraceError, NonRetryableError, type ErrorCode } from "../../core/errors.ts";
import type { Outcome } from "../../core/outcome.ts";
import { classify } from "../../core/policy.ts";
import type { Preset } from "../../core/presets.ts";
import type { Definition } from "../../api/definition.ts";
import type { FailingJob } from "../../api/settings.ts";
import { decode } from "../../core/payload.ts";
import type { ClaimedJob } from "../../store/types/jobs-and-runs.ts";

export interface FailureParts {
  readonly job: ClaimedJob;
  readonly definition: Definition;
  readonly preset: Preset;
  readonly clock: Clock;
}

export type RunFailure = Extract<Outcome, { type: "failed" }>;

/** A thrown value may be anything, even an object whose properties throw. */
export function failureOf(error: unknown, parts: FailureParts): RunFailure {
  try {
    return read(error, parts);
  } catch {
    return read(new Error("the handler threw a value that cannot be read"), parts);
  }
}

function read(error: unknown, { job, definition, preset, clock }: FailureParts): RunFailure {
  const { classify: judge } = definition.settings;
  return classify(isFinal(error) ? asFinal(error) : error, {
    classify: judge && ((thrown) => judge(thrown, failingJobOf(job))),
    defaultErrorClass: preset.retry.defaultErrorClass,
    nowMs: clock.now(),
  });
}

function failingJobOf(job: ClaimedJob): FailingJob {
  const { id, type, tenant, correlationId, tags, tries, maxAttempts } = job;
  const payload = decode(job.payload) ?? null;
  return { id, type, tenant, correlationId, tags, payload, attempt: tries + 1, maxAttempts };
}

/**
 * Errors that a retry would repeat: the result cannot be stored, or the handler needs a part that
 * this release does not have.
 */
const FINAL_CODES: readonly string[] = ["RESULT_REFUSED", "NOT_YET"] satisfies ErrorCode[];

function isFinal(error: unknown): error is MillraceError {
  return error instanceof MillraceError && FINAL_CODES.includes(error.code);
}

function asFinal(error: MillraceError): NonRetryableError {
  return new NonRetryableError(error.message, { cause: error });
}
