/** How failures count, and how often they are forgiven. */
import type { BackoffPolicy } from "./backoff.ts";
import { waitMs } from "./duration.ts";
import { faultOf, propertyOf } from "./fault.ts";
import type { ErrorClass } from "./job.ts";
import type { Outcome } from "./outcome.ts";
import { shown } from "./text.ts";

export interface RetryPolicy {
  /** Counts the first attempt. */
  readonly maxAttempts: number;
  /** After this many crashes a job is held to be what kills its workers. */
  readonly crashCap: number;
  /** How an error counts that nobody has classified. */
  readonly defaultErrorClass: ErrorClass;
  readonly backoff: Readonly<Record<Exclude<ErrorClass, "non_retryable">, BackoffPolicy>>;
}

export interface ClassifyOptions {
  /** The job's own opinion; `undefined` leaves it to the default class. */
  readonly classify?: ((error: unknown) => ErrorClass | undefined) | undefined;
  readonly defaultErrorClass: ErrorClass;
  /** Semaphore a `retryAfter` that is a moment into a length. */
  readonly nowMs: number;
}

const ERROR_CLASSES: readonly unknown[] = [
  "transient",
  "retryable",
  "non_retryable",
  "rate_limited",
] satisfies ErrorClass[];

/**
 * How a thrown error counts: what it says itself (the four error classes of the library), then
 * what the job's `classify` says, then the default.
 *
 * A `classify` that throws or answers nonsense never hides the error it was asked about: the
 * default class holds, and the message tells of it.
 */
export function classify(
  error: unknown,
  options: ClassifyOptions,
): Extract<Outcome, { type: "failed" }> {
  const declared = propertyOf(error, "~class");
  if (isErrorClass(declared)) {
    const retryAfterMs = waitMs(propertyOf(error, "retryAfter"), options.nowMs);
    const fault = faultOf(error, declared);
    return retryAfterMs === null
      ? { type: "failed", fault }
      : { type: "failed", fault, retryAfterMs };
  }

  const opinion = ask(error, options.classify);
  return {
    type: "failed",
    fault: faultOf(error, opinion.class ?? options.defaultErrorClass, opinion.remark),
  };
}

interface Opinion {
  readonly class?: ErrorClass;
  readonly remark?: string;
}

function ask(error: unknown, judge: ClassifyOptions["classify"]): Opinion {
  try {
    const answer: unknown = judge?.(error);
    if (answer === undefined) return {};
    if (isErrorClass(answer)) return { class: answer };
    return { remark: ` (classify answered ${shown(answer)}, which is no error class)` };
  } catch (thrown) {
    const { name, message } = faultOf(thrown, "retryable");
    return { remark: ` (classify threw ${name}: ${shown(message)})` };
  }
}

function isErrorClass(value: unknown): value is ErrorClass {
  return ERROR_CLASSES.includes(value);
}
