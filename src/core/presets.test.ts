import { describe, expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";
import type { BackoffPolicy } from "./backoff.ts";
import { defaults, docverse, jobqueue, lipas, lipasDev, periodic, practice } from "./presets.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const presets = { defaults, docverse, periodic, jobqueue, practice, lipas, lipasDev };

/** Seconds after failure 1 to 5, in the middle of the swing. */
function seconds(policy: BackoffPolicy): readonly number[] {
  return [1, 2, 3, 4, 5].map((failures) => backoffMs(policy, failures, 0.5) / 1_000);
}

function spread(policy: BackoffPolicy, failures: number): readonly [least: number, most: number] {
  return [backoffMs(policy, failures, 0), backoffMs(policy, failures, 1 - Number.EPSILON)];
}

describe.each(Object.entries(presets))("the preset %s", (_, preset) => {
  test("cannot be changed", () => {
    expect(Object.isFrozen(preset)).toBe(true);
    expect(Object.isFrozen(preset.retry.backoff.transient)).toBe(true);
    expect(Object.isFrozen(preset.retention.finishedMs)).toBe(true);
  });

  test("ends a poison job after three crashes (C-05)", () => {
    expect(preset.retry.crashCap).toBe(3);
  });

  test("asks rate-limited jobs to wait 1, 2, 4 minutes and at most an hour (C-10)", () => {
    const { rate_limited: policy } = preset.retry.backoff;

    expect(seconds(policy)).toEqual([60, 120, 240, 480, 960]);
    expect(backoffMs(policy, 20, 0.5)).toBe(60 * MINUTE_MS);
  });

  test("keeps finished jobs for 7 days, dead letters for 90, keys for 30 (000-44, C-34)", () => {
    expect(preset.retention).toEqual({
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
    });
  });
});

describe("the defaults", () => {
  test("give five attempts, and an unclassified error another try (003-20, C-07, C-08)", () => {
    expect(defaults.retry).toMatchObject({ maxAttempts: 5, defaultErrorClass: "retryable" });
  });

  test.each(["transient", "retryable"] as const)(
    "wait 2, 4, 8, 16, 32 s after %s failures, jittered below a cap of 5 min (003-17, C-09)",
    (errorClass) => {
      const policy = defaults.retry.backoff[errorClass];

      expect(seconds(policy)).toEqual([2, 4, 8, 16, 32]);
      expect(spread(policy, 1)).toEqual([1_600, 2_400]);
      expect(policy).toMatchObject({ capMs: 300_000, jitter: 0.2, jitterAt: "cap" });
      expect(backoffMs(policy, 30, 0)).toBe(240_000);
    },
  );

  test("have three fast and five general slots with limits of 2 and 20 min (004-01, C-32)", () => {
    expect(defaults.lanes).toEqual({ fast: 3, general: 5 });
    expect(defaults.timeoutMs).toEqual({ fast: 2 * MINUTE_MS, general: 20 * MINUTE_MS });
  });

  test("lease for 30 s and poll every second (C-20)", () => {
    expect(defaults).toMatchObject({ leaseMs: 30_000, pollMs: 1_000 });
  });

  test("return the existing job, resume phases and retry orphans (C-05, C-13, C-19)", () => {
    expect(defaults).toMatchObject({
      onIdempotencyConflict: "return-existing",
      onRetry: "resume",
      onOrphan: "retry",
    });
  });
});

describe("docverse and periodic", () => {
  test("give three attempts from the beginning (000-40, C-07, C-19)", () => {
    expect(docverse.retry.maxAttempts).toBe(3);
    expect(docverse.onRetry).toBe("restart");
  });

  test("give periodic jobs one retry (C-07)", () => {
    expect(periodic.retry.maxAttempts).toBe(2);
    expect(periodic.onRetry).toBe("restart");
  });

  test("set no limit to a run (C-20)", () => {
    expect(docverse.timeoutMs).toEqual({ fast: null, general: null });
    expect(periodic.timeoutMs).toEqual({ fast: null, general: null });
  });
});

describe("jobqueue", () => {
  test("takes an unclassified error for final (001-26, C-08)", () => {
    expect(jobqueue.retry.defaultErrorClass).toBe("non_retryable");
  });

  test("counts the first attempt and waits with a backoff", () => {
    expect(jobqueue.retry.maxAttempts).toBe(5);
    expect(jobqueue.retry.backoff.retryable.kind).toBe("exponential");
  });

  test("fails orphans, keeps phase results, sets no limit (C-05, C-20)", () => {
    expect(jobqueue).toMatchObject({
      onOrphan: "fail",
      onRetry: "resume",
      timeoutMs: { fast: null, general: null },
    });
  });
});

describe("practice", () => {
  test("gives five attempts (003-20, C-07)", () => {
    expect(practice.retry.maxAttempts).toBe(5);
  });

  test.each(["transient", "retryable"] as const)(
    "waits 2, 4, 8, 16, 32 s after %s failures (003-17)",
    (errorClass) => {
      expect(seconds(practice.retry.backoff[errorClass])).toEqual([2, 4, 8, 16, 32]);
    },
  );

  test("waits 60, 120, 240 s after a rate limit (003-19)", () => {
    expect(seconds(practice.retry.backoff.rate_limited).slice(0, 3)).toEqual([60, 120, 240]);
  });

  test("swings by a fifth and is capped at 300 s after that (003-21, C-09)", () => {
    const { transient } = practice.retry.backoff;

    expect(spread(transient, 3)).toEqual([6_400, 9_600]);
    expect(spread(transient, 20)).toEqual([300_000, 300_000]);
  });

  test("refuses a repeated idempotency key (C-13)", () => {
    expect(practice.onIdempotencyConflict).toBe("error");
  });
});

describe("lipas", () => {
  test("gives three attempts (C-07)", () => {
    expect(lipas.retry.maxAttempts).toBe(3);
    expect(lipasDev.retry.maxAttempts).toBe(3);
  });

  test("waits 1, 2, 4 s, give or take a tenth, at most 5 min (004-22, C-09)", () => {
    const { retryable, transient } = lipas.retry.backoff;

    expect(transient).toEqual(retryable);
    expect(seconds(retryable).slice(0, 3)).toEqual([1, 2, 4]);
    expect(spread(retryable, 3)).toEqual([3_600, 4_400]);
    expect(spread(retryable, 20)).toEqual([300_000, 300_000]);
  });

  test("runs with its production numbers (004-28)", () => {
    expect(lipas).toMatchObject({
      lanes: { fast: 3, general: 5 },
      batchMax: 20,
      pollMs: 1_000,
      timeoutMs: { fast: 2 * MINUTE_MS, general: 20 * MINUTE_MS },
    });
  });

  test("runs with its development numbers (004-27)", () => {
    expect(lipasDev).toMatchObject({
      lanes: { fast: 1, general: 2 },
      batchMax: 5,
      pollMs: 2_000,
    });
    expect(lipasDev.retry.backoff.retryable).toMatchObject({
      baseMs: 1_000,
      capMs: 60_000,
      jitter: 0.1,
    });
  });
});
