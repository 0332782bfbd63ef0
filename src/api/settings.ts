/** The settings of `defineJob`, and the rule that checks each of them. */
import type { Duration } from "../core/duration.ts";
import { PRIORITIES } from "../core/job.ts";
import type { ErrorClass } from "../core/job.ts";
import type { Json } from "../core/payload.ts";
import { aLimit } from "./control/limit-rule.ts";
import type { LimitRule } from "./control/limits.ts";
import { isVersion } from "../core/payload-rules/payload-version.ts";
import {
  aFunction,
  aName,
  anObject,
  aWholeNumber,
  isDuration,
  isObject,
  isWholeNumber,
  must,
  oneOf,
  wholeNumberIn,
} from "./rules.ts";
import type { Rule } from "./rules.ts";

export interface JobSettings {
  readonly lane?: "fast" | "general" | (string & {});
  readonly category?: string;
  /** A job with a lower number runs first. */
  readonly priority?: number | "critical" | "high" | "normal" | "low";
  /** The longest run. Default by lane: fast 2 min, general 20 min. `false` means no limit. */
  readonly timeout?: Duration | false;
  /** The maximum number of attempts, the first included. */
  readonly maxAttempts?: number;
  readonly backoff?: {
    kind: "fixed" | "linear" | "exponential";
    base: Duration;
    factor?: number;
    /** The share of the wait, from 0 to 1, by which the wait varies at random. */
    jitter?: number;
    cap?: Duration;
  };
  /**
   * Returns the class of an error that a run or a unit of the job threw; `undefined` means the
   * default class.
   */
  readonly classify?: (error: unknown, job: FailingJob) => ErrorClass | undefined;
  /**
   * What a new attempt does with the completed phases and units of an earlier attempt: `resume`
   * (the default) keeps their results, `restart` discards them. A deploy, a crash that is not
   * charged and a snooze start no new attempt.
   */
  readonly onRetry?: "resume" | "restart";
  /** What happens to the job when its worker dies: another attempt (the default), or failure. */
  readonly onOrphan?: "retry" | "fail";
  /**
   * Who retries a failed run. `queue`, the default: Millrace does, after the backoff. `supervisor`:
   * the application does; the job ends as `completed`, and its ledger says that the run failed.
   */
  readonly retryOwner?: "queue" | "supervisor";
  /**
   * How many jobs of this type may run at the same time, and how many may start in a period, in all
   * processes together: at least one of the two. Stored when a worker of the type starts. A limit
   * that an operator has set counts instead.
   */
  readonly limits?: LimitRule;
  /**
   * The external services that the job calls, at most ten. While the circuit breaker of one of them
   * is open, the jobs of the type wait. A job with exactly one service reports its transient
   * failures, rate limits, time-outs and successes to the breaker of that service.
   */
  readonly services?: readonly string[];
  /**
   * The version of the payload that this code writes and reads: numbers with dots, such as `"2"` or
   * `"1.0"`. A job without a version counts as version 1.
   */
  readonly payloadVersion?: string;
  /**
   * How to read older payloads, by their version. Each function turns a payload of its version into
   * one of the next version in the list, and the last one into `payloadVersion`. They run before
   * the schema and the handler.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob, typed } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const greet = defineJob({
   *   type: "greet",
   *   payload: typed<{ first: string; last: string }>(),
   *   payloadVersion: "3",
   *   upcast: {
   *     "1": (payload) => ({ name: payload.who }),
   *     "2": ({ name }) => ({ first: name.split(" ")[0], last: name.split(" ")[1] }),
   *   },
   * }).run(({ first }) => `Hello ${first}`);
   *
   * await using test = await createTestMill();
   * const before = defineJob({ type: "greet", payload: typed<{ who: string }>() });
   * const job = await test.mill.enqueue(before, { who: "Ada Lovelace" });
   * await test.drain([greet]);
   * assert.equal(await test.mill.result(job), "Hello Ada");
   * ```
   */
  readonly upcast?: Readonly<Record<string, (payload: any) => unknown>>;
}

/** The job whose run threw the error that `classify` is asked about. */
export interface FailingJob {
  readonly id: string;
  readonly type: string;
  readonly tenant: string;
  readonly correlationId: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The stored payload, before the schema; `null` for a job without payload. */
  readonly payload: Json;
  /** The number of this attempt: 1 on the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
}

/** The version of a payload. */
export const aVersion: Rule = must(isVersion, 'a version such as "2" or "1.0"');

/** The bounds of the columns in every store. */
export const PRIORITY_BOUNDS = { min: 0, max: 1_000_000_000 } as const;
export const ATTEMPTS_BOUNDS = { min: 1, max: 1_000_000_000 } as const;

/** The most services of one type. */
const SERVICES_MAX = 10;

const aWait = must(
  (value) => isDuration(value, { minMs: 0 }),
  'a duration such as "30s" or a number of milliseconds',
);

/** One rule per setting. The mapped type makes the compiler report a setting without a rule. */
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
    // A limit of zero would end every run before it starts.
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
  limits: aLimit,
  services: must(
    (value) =>
      Array.isArray(value) &&
      value.length <= SERVICES_MAX &&
      new Set(value).size === value.length &&
      value.every((service) => aName(service, "") === null),
    `a list of at most ${SERVICES_MAX} different names, such as ["bank"]`,
  ),
  payloadVersion: aVersion,
  upcast: must(isUpcast, 'functions by version, such as { "1": (payload) => payload }'),
};

/** A frozen copy, so that later changes of the caller's objects have no effect. */
export function frozenSettings(settings: JobSettings): JobSettings {
  const { backoff, limits, services, upcast, ...plain } = settings;
  return Object.freeze({
    ...plain,
    ...(limits && { limits: frozenLimit(limits) }),
    ...(services && { services: Object.freeze([...services]) }),
    ...(upcast && { upcast: Object.freeze({ ...upcast }) }),
    ...(backoff && { backoff: Object.freeze({ ...backoff }) }),
  });
}

function frozenLimit({ rate, ...limit }: LimitRule): LimitRule {
  return Object.freeze({ ...limit, ...(rate && { rate: Object.freeze({ ...rate }) }) });
}

function isUpcast(value: unknown): boolean {
  if (!isObject(value)) return false;
  return Object.entries(value).every(
    ([version, upcast]) => isVersion(version) && typeof upcast === "function",
  );
}

function isBetween(value: unknown, min: number, max: number): boolean {
  return typeof value === "number" && value >= min && value <= max;
}
