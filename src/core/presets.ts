/**
 * The default numbers of the library, and one set of numbers for each of the job systems that
 * Millrace replaces. A preset overrides some of the defaults.
 */
import type { BackoffPolicy } from "./backoff.ts";
import type { FinalState } from "./job.ts";
import { PRACTICE_RULES, type PresetRules } from "./payload-rules/practice.ts";
import type { RetryPolicy } from "./policy.ts";

export interface Preset {
  readonly retry: RetryPolicy;
  /** The slots of each lane in one worker. */
  readonly lanes: Readonly<Record<"fast" | "general", number>>;
  /** The longest run of a job in each lane; `null` means no limit. */
  readonly timeoutMs: Readonly<Record<"fast" | "general", number | null>>;
  readonly pollMs: number;
  /** The maximum number of jobs in one claim. */
  readonly batchMax: number;
  readonly leaseMs: number;
  /** What `enqueue` does with a repeated idempotency key. */
  readonly onIdempotencyConflict: "return-existing" | "error";
  /** Whether a retry keeps the completed phases. */
  readonly onRetry: "resume" | "restart";
  /** What happens to a job whose worker died. */
  readonly onOrphan: "retry" | "fail";
  /**
   * The circuit breakers of services: so many failures in a row open a breaker, and `openMs` later
   * one job is tried.
   */
  readonly breaker: { readonly failures: number; readonly openMs: number };
  readonly retention: RetentionPreset;
  /** Rules for payloads that code brings along. They are stored, for the whole installation. */
  readonly payloadRules: PresetRules;
}

/** How long finished jobs and their records are kept. */
export interface RetentionPreset {
  readonly finishedMs: Readonly<Record<FinalState, number>>;
  readonly deadLetterMs: number;
  /** Starts at the end of the job. */
  readonly idempotencyMs: number;
  readonly eventMs: number;
  /** How long the figures of `mill.metrics` are kept. */
  readonly minutesMs: number;
  /** Counted from the end of the day of an audit entry, in UTC. */
  readonly auditMs: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** 2, 4, 8, 16, 32 s and so on, give or take a fifth, up to 5 min. */
const STEADY: BackoffPolicy = {
  kind: "exponential",
  baseMs: 2 * SECOND_MS,
  factor: 2,
  jitter: 0.2,
  capMs: 5 * MINUTE_MS,
  jitterAt: "cap",
};

/** 1, 2, 4 min and so on, up to an hour. */
const PATIENT: BackoffPolicy = { ...STEADY, baseMs: MINUTE_MS, capMs: HOUR_MS };

/**
 * The default numbers of the library, for a preset that changes a few of them.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createTestMill } from "millrace/testing";
 * import { defaults, type Preset } from "millrace";
 *
 * const retention = { ...defaults.retention, auditMs: 10 * 365 * 86_400_000 };
 * const preset: Preset = { ...defaults, retention };
 * await using test = await createTestMill({ preset });
 * assert.equal(defaults.retention.auditMs, 90 * 86_400_000);
 * ```
 */
export const defaults: Preset = deepFreeze({
  retry: {
    maxAttempts: 5,
    crashCap: 3,
    defaultErrorClass: "retryable",
    backoff: { transient: STEADY, retryable: STEADY, rate_limited: PATIENT },
  },
  lanes: { fast: 3, general: 5 },
  timeoutMs: { fast: 2 * MINUTE_MS, general: 20 * MINUTE_MS },
  pollMs: SECOND_MS,
  batchMax: 500,
  leaseMs: 30 * SECOND_MS,
  onIdempotencyConflict: "return-existing",
  onRetry: "resume",
  onOrphan: "retry",
  breaker: { failures: 5, openMs: MINUTE_MS },
  retention: {
    finishedMs: {
      completed: 7 * DAY_MS,
      completed_with_errors: 7 * DAY_MS,
      failed: 7 * DAY_MS,
      cancelled: 7 * DAY_MS,
    },
    deadLetterMs: 90 * DAY_MS,
    idempotencyMs: 30 * DAY_MS,
    eventMs: 7 * DAY_MS,
    minutesMs: 30 * DAY_MS,
    auditMs: 90 * DAY_MS,
  },
  payloadRules: {},
});

/**
 * Documentation publishing: three attempts, each from the beginning, no time limit.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { docverse } from "millrace";
 *
 * assert.equal(docverse.retry.maxAttempts, 3);
 * assert.equal(docverse.onRetry, "restart");
 * ```
 */
export const docverse: Preset = deepFreeze({
  ...defaults,
  retry: { ...defaults.retry, maxAttempts: 3 },
  timeoutMs: { fast: null, general: null },
  onRetry: "restart",
});

/**
 * Periodic work of documentation publishing: two attempts, then the next scheduled run catches up.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { periodic } from "millrace";
 *
 * assert.equal(periodic.retry.maxAttempts, 2);
 * ```
 */
export const periodic: Preset = deepFreeze({
  ...docverse,
  retry: { ...docverse.retry, maxAttempts: 2 },
});

/**
 * One embedded process: an unclassified error is final, and so is a crash.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { jobqueue } from "millrace";
 *
 * assert.equal(jobqueue.retry.defaultErrorClass, "non_retryable");
 * assert.equal(jobqueue.onOrphan, "fail");
 * ```
 */
export const jobqueue: Preset = deepFreeze({
  ...defaults,
  retry: { ...defaults.retry, defaultErrorClass: "non_retryable" },
  timeoutMs: { fast: null, general: null },
  onOrphan: "fail",
});

/**
 * Practice management: five attempts, jitter before the cap, a repeated idempotency key is an
 * error. Payloads name their tenant, correlation id and idempotency key, and hold no secrets, mail
 * bodies or documents.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { practice } from "millrace";
 *
 * assert.equal(practice.retry.backoff.transient.jitter, 0.2);
 * assert.equal(practice.onIdempotencyConflict, "error");
 * ```
 */
export const practice: Preset = deepFreeze({
  ...defaults,
  retry: {
    ...defaults.retry,
    backoff: {
      transient: { ...STEADY, jitterAt: "before-cap" },
      retryable: { ...STEADY, jitterAt: "before-cap" },
      rate_limited: { ...PATIENT, jitterAt: "before-cap" },
    },
  },
  onIdempotencyConflict: "error",
  payloadRules: PRACTICE_RULES,
});

/**
 * Sports sites in production: three attempts after 1 and 2 s, two lanes.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { lipas } from "millrace";
 *
 * assert.deepEqual(lipas.lanes, { fast: 3, general: 5 });
 * assert.equal(lipas.batchMax, 20);
 * ```
 */
export const lipas: Preset = deepFreeze({
  ...defaults,
  retry: lipasRetry(5 * MINUTE_MS),
  batchMax: 20,
});

/**
 * Sports sites on a developer's machine: fewer slots, shorter waits.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { lipasDev } from "millrace";
 *
 * assert.deepEqual(lipasDev.lanes, { fast: 1, general: 2 });
 * ```
 */
export const lipasDev: Preset = deepFreeze({
  ...lipas,
  retry: lipasRetry(MINUTE_MS),
  lanes: { fast: 1, general: 2 },
  pollMs: 2 * SECOND_MS,
  batchMax: 5,
  breaker: { failures: 3, openMs: 30 * SECOND_MS },
});

function lipasRetry(capMs: number): RetryPolicy {
  const quick: BackoffPolicy = {
    kind: "exponential",
    baseMs: SECOND_MS,
    factor: 2,
    jitter: 0.1,
    capMs,
    jitterAt: "before-cap",
  };
  return {
    ...defaults.retry,
    maxAttempts: 3,
    backoff: { transient: quick, retryable: quick, rate_limited: PATIENT },
  };
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    if (typeof member === "object" && member !== null) deepFreeze(member);
  }
  return Object.freeze(value);
}
