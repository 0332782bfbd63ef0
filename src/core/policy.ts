/** How failures count, and how often a job is retried. */
import type { BackoffPolicy } from "./backoff.ts";
import { waitMs } from "./duration.ts";
import { faultOf, propertyOf } from "./fault.ts";
import type { ErrorClass } from "./job.ts";
import type { Outcome } from "./outcome.ts";
import { shown } from "./text.ts";

export interface RetryPolicy {
  /** The maximum number of attempts, the first included. */
  readonly maxAttempts: number;
  /**
   * From this number of crashes on, a job runs alone. The next crash of a run that was alone ends
   * the job.
   */
  readonly crashCap: number;
  /** The class of an error that is not classified. */
  readonly defaultErrorClass: ErrorClass;
  readonly backoff: Readonly<Record<Exclude<ErrorClass, "non_retryable">, BackoffPolicy>>;
}

export interface ClassifyOptions {
  /** The `classify` of the job; `undefined` means the default class. */
  readonly classify?: ((error: unknown) => ErrorClass | undefined) | undefined;
  readonly defaultErrorClass: ErrorClass;
  /** The current time, to turn a `retryAfter` that is an instant into a duration. */
  readonly nowMs: number;
}

/**
 * The longest `retryAfter` that counts: a day. A wrong header of a service would otherwise keep
 * jobs back for years.
 */
export const RETRY_AFTER_MS_MAX = 86_400_000;

const ERROR_CLASSES: readonly unknown[] = [
  "transient",
  "retryable",
  "non_retryable",
  "rate_limited",
] satisfies ErrorClass[];

/**
 * The class of a thrown error: its own (the four error classes of the library), then the class from
 * the job's `classify`, then the default.
 *
 * If `classify` throws or returns an unknown class, the default class applies, and the message of
 * the error says so.
 */
export function classify(
  error: unknown,
  options: ClassifyOptions,
): Extract<Outcome, { type: "failed" }> {
  const declared = propertyOf(error, "~class");
  if (isErrorClass(declared)) {
    const retryAfterMs = waitMs(propertyOf(error, "retryAfter"), options.nowMs);
    const fault = faultOf(error, declared);
    const scope = propertyOf(error, "scope") === "tenant" ? ({ scope: "tenant" } as const) : {};
    return retryAfterMs === null
      ? { type: "failed", fault }
      : { type: "failed", fault, retryAfterMs, ...scope };
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
    return { remark: ` (classify returned ${shown(answer)}, which is not an error class)` };
  } catch (thrown) {
    const { name, message } = faultOf(thrown, "retryable");
    return { remark: ` (classify threw ${name}: ${shown(message)})` };
  }
}

function isErrorClass(value: unknown): value is ErrorClass {
  return ERROR_CLASSES.includes(value);
}
