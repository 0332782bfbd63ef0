import { describe, expect, test } from "vitest";
import { UNKNOWN_RATE, rateOf, withSample, type RateSample } from "./rate.ts";

describe("the rate of a job", () => {
  test("is that of what was seen: units by second, and the time that the rest takes", () => {
    const samples = seen([0, 0, 0], [2_000, 0.05, 20], [5_000, 0.25, 100]);

    expect(rateOf(samples)).toEqual({ unitsPerSecond: 20, leftMs: 15_000 });
  });

  test("does not count what was done before the first sample", () => {
    const samples = seen([0, 0.8, 800], [1_000, 0.85, 810], [10_000, 0.9, 850]);

    const { unitsPerSecond, leftMs } = rateOf(samples);
    expect(unitsPerSecond).toBe(5);
    expect(leftMs).toBeCloseTo(10_000);
  });

  test("is that of the last half minute", () => {
    const samples = seen([0, 0, 0], [60_000, 0.5, 5], [65_000, 0.55, 50], [70_000, 0.6, 105]);

    const { unitsPerSecond, leftMs } = rateOf(samples);
    expect(unitsPerSecond).toBe(10);
    expect(leftMs).toBeCloseTo(40_000);
  });

  test("starts over when the job does", () => {
    const samples = seen(
      [0, 0, 0],
      [5_000, 0.5, 50],
      [6_000, 0.1, 0],
      [7_000, 0.15, 5],
      [8_000, 0.2, 10],
    );

    const { unitsPerSecond, leftMs } = rateOf(samples);
    expect(unitsPerSecond).toBe(5);
    expect(leftMs).toBeCloseTo(16_000);
  });

  test("leaves the time open while the job stands still", () => {
    expect(rateOf(seen([0, 0.5, 10], [9_000, 0.5, 10]))).toEqual({
      unitsPerSecond: 0,
      leftMs: null,
    });
  });

  test("leaves the time open after one jump", () => {
    const { leftMs } = rateOf(seen([0, 0, 0], [2_000, 0.3, 3], [9_000, 0.3, 3]));

    expect(leftMs).toBeNull();
  });

  test("starts over with each phase", () => {
    const before = seen([0, 0, 0], [1_000, 0.1, 5], [2_000, 0.2, 10]);
    const samples = withSample(before, { at: 9_000, phase: "b", share: 0.9, ended: 90 });

    expect(rateOf(samples)).toEqual(UNKNOWN_RATE);
  });

  test("is not guessed from one look, nor from a moment", () => {
    expect(rateOf([])).toEqual(UNKNOWN_RATE);
    expect(rateOf(seen([0, 0.5, 10]))).toEqual(UNKNOWN_RATE);
    expect(rateOf(seen([0, 0, 0], [999, 0.5, 10]))).toEqual(UNKNOWN_RATE);
  });
});

function seen(...all: readonly (readonly [at: number, share: number, ended: number])[]) {
  return all.reduce<readonly RateSample[]>(
    (samples, [at, share, ended]) => withSample(samples, { at, phase: null, share, ended }),
    [],
  );
}
