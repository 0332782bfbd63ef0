import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";
import type { BackoffPolicy } from "./backoff.ts";
import { DURATION_MS_MAX } from "./duration.ts";

const plain: BackoffPolicy = {
  kind: "exponential",
  baseMs: 1_000,
  factor: 2,
  jitter: 0,
  capMs: 60_000,
  jitterAt: "cap",
};

const anyPolicy: fc.Arbitrary<BackoffPolicy> = fc.record({
  kind: fc.constantFrom("fixed", "linear", "exponential"),
  baseMs: fc.nat(DURATION_MS_MAX),
  factor: fc.double({ min: 0, max: 1_000, noNaN: true }),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  capMs: fc.nat(DURATION_MS_MAX),
  jitterAt: fc.constantFrom("cap", "before-cap"),
});
const failures = fc.integer({ min: 1, max: 1_000_000 });
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

function waits(policy: BackoffPolicy, random: number): readonly number[] {
  return [1, 2, 3, 4, 5, 6, 7, 8].map((n) => backoffMs(policy, n, random));
}

describe("the wait after the n-th failure", () => {
  test.each([
    ["fixed", [1, 1, 1, 1, 1, 1, 1, 1]],
    ["linear", [1, 2, 3, 4, 5, 6, 7, 8]],
    ["exponential", [1, 2, 4, 8, 16, 32, 60, 60]],
  ] as const)("grows %s (001-27, C-35)", (kind, seconds) => {
    expect(waits({ ...plain, kind }, 0.5)).toEqual(seconds.map((s) => s * 1_000));
  });

  test("swings to both sides (003-21)", () => {
    const swinging = { ...plain, jitter: 0.2 };

    expect(backoffMs(swinging, 1, 0)).toBe(800);
    expect(backoffMs(swinging, 1, 0.5)).toBe(1_000);
    expect(backoffMs(swinging, 1, 0.75)).toBe(1_100);
  });

  test("stays at the cap when jitter comes before it (C-09)", () => {
    const literal: BackoffPolicy = { ...plain, jitter: 0.2, jitterAt: "before-cap" };

    expect(backoffMs(literal, 20, 0)).toBe(60_000);
    expect(backoffMs(literal, 20, 0.9)).toBe(60_000);
    expect(backoffMs(literal, 7, 0)).toBe(51_200);
  });

  test("still spreads at the cap, downwards only, when the cap comes first (C-09)", () => {
    const ours: BackoffPolicy = { ...plain, jitter: 0.2, jitterAt: "cap" };

    expect(backoffMs(ours, 20, 0)).toBe(48_000);
    expect(backoffMs(ours, 20, 0.25)).toBe(54_000);
    expect(backoffMs(ours, 20, 0.5)).toBe(60_000);
    expect(backoffMs(ours, 20, 0.75)).toBe(54_000);
  });

  test("is a whole number from 0 to the cap for every policy, failure and roll", () => {
    fc.assert(
      fc.property(anyPolicy, failures, chance, (policy, n, random) => {
        const ms = backoffMs(policy, n, random);

        expect(Number.isSafeInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(policy.capMs);
      }),
    );
  });

  test.each(["cap", "before-cap"] as const)(
    "is nothing where the base or the swing is nothing, even after a million failures (%s)",
    (jitterAt) => {
      expect(backoffMs({ ...plain, jitterAt, baseMs: 0 }, 1_000_000, 0.5)).toBe(0);
      expect(backoffMs({ ...plain, jitterAt, jitter: 1 }, 1_000_000, 0)).toBe(0);
    },
  );

  test("keeps within its swing below the cap", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), chance, (n, random) => {
        const policy: BackoffPolicy = { ...plain, capMs: 10_000_000, jitter: 0.2 };
        const middle = 1_000 * 2 ** (n - 1);

        expect(backoffMs(policy, n, random)).toBeGreaterThanOrEqual(0.8 * middle);
        expect(backoffMs(policy, n, random)).toBeLessThanOrEqual(1.2 * middle);
      }),
    );
  });

  test("has an end even where no cap is set", () => {
    expect(backoffMs({ ...plain, capMs: Number.POSITIVE_INFINITY }, 1_000_000, 0.5)).toBe(
      DURATION_MS_MAX,
    );
  });
});
