/** How a job is to be run: the settings of `defineJob`, and the rule for each. */
import type { Duration } from "../core/duration.ts";
import { PRIORITIES } from "../core/job.ts";
import type { ErrorClass } from "../core/job.ts";
import {
  aFunction,
  aName,
  anObject,
  aWholeNumber,
  isDuration,
  isWholeNumber,
  listOf,
  must,
  oneOf,
  wholeNumberIn,
} from "./rules.ts";
import type { Rule } from "./rules.ts";

export interface JobSettings {
  readonly lane?: "fast" | "general" | (string & {});
  readonly category?: string;
  /** Lower runs first. */
  readonly priority?: number | "critical" | "high" | "normal" | "low";
  /** Default by lane (fast 2 min, general 20 min); `false` for none. */
  readonly timeout?: Duration | false;
  /** Counts the first attempt. */
  readonly maxAttempts?: number;
  readonly backoff?: {
    kind: "fixed" | "linear" | "exponential";
    base: Duration;
    factor?: number;
    /** Share of the wait by which it may swing, from 0 to 1. */
    jitter?: number;
    cap?: Duration;
  };
  /** How a foreign error counts; `undefined` leaves it to the default class. */
  readonly classify?: (error: unknown) => ErrorClass | undefined;
  /**
   * What a new attempt does with phases and units that an earlier one has completed. `resume`, the
   * default, keeps them; `restart` forgets them. A deploy, a crash that charges nothing and a
   * snooze are no new attempts.
   */
  readonly onRetry?: "resume" | "restart";
  readonly onOrphan?: "retry" | "fail";
  readonly retryOwner?: "queue" | "supervisor";
  /** External services whose open breaker holds this job back. */
  readonly services?: readonly string[];
}

/** The bounds that the tables of every store have. */
export const PRIORITY_BOUNDS = { min: 0, max: 1_000_000_000 } as const;
export const ATTEMPTS_BOUNDS = { min: 1, max: 1_000_000_000 } as const;

const aWait = must(
  (value) => isDuration(value, { minMs: 0 }),
  'a duration such as "30s" or a number of milliseconds',
);

/** One rule per setting: the mapped type makes the compiler ask for the rule of a new one. */
export const SETTING_RULES: { readonly [K in keyof Required<JobSettings>]: Rule } = {
  lane: aName,
  category: aName,
  priority: must(
    (value) =>
      typeof value === "string"
        ? Object.hasOwn(PRIORITIES, value)
        : isWholeNumber(value, PRIORITY_BOUNDS),
    `${wholeNumberIn(PRIORITY_BOUNDS)}, or "critical", "high", "normal" or "low"`,
  ),
  timeout: must(
    // A limit of zero would end every run before it began.
    (value) => value === false || isDuration(value, { minMs: 1 }),
    'a duration above zero such as "20m", or false for none',
  ),
  maxAttempts: aWholeNumber(ATTEMPTS_BOUNDS),
  backoff: anObject(
    {
      required: { kind: oneOf("fixed", "linear", "exponential"), base: aWait },
      optional: {
        factor: must((value) => isBetween(value, 1, Number.MAX_VALUE), "a number of at least 1"),
        jitter: must((value) => isBetween(value, 0, 1), "a number from 0 to 1"),
        cap: aWait,
      },
    },
    'an object such as { kind: "exponential", base: "2s" }',
  ),
  classify: aFunction,
  onRetry: oneOf("resume", "restart"),
  onOrphan: oneOf("retry", "fail"),
  retryOwner: oneOf("queue", "supervisor"),
  services: listOf(aName),
};

/** A copy that no later change of the caller's objects can reach. */
export function frozenSettings(settings: JobSettings): JobSettings {
  const { backoff, services, ...plain } = settings;
  return Object.freeze({
    ...plain,
    ...(backoff && { backoff: Object.freeze({ ...backoff }) }),
    ...(services && { services: Object.freeze([...services]) }),
  });
}

function isBetween(value: unknown, min: number, max: number): boolean {
  return typeof value === "number" && value >= min && value <= max;
}
