import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { overallPercent, percentOfPhase, shownPercent } from "./progress.ts";

describe("the progress of a job in three phases", () => {
  test.each([
    ["download", 0, 50, 17],
    ["process", 1, 25, 42],
    ["upload", 2, 80, 93],
  ])("in %s counts all phases alike (001-21)", (_, phaseIndex, phasePercent, overall) => {
    expect(overallPercent({ phaseIndex, phasePercent, phaseCount: 3 })).toBe(overall);
  });
});

describe("the progress of a running phase", () => {
  test.each([
    ["nothing that is known", 0, 0, 0, 0],
    ["what the handler reports", 12.5, 0, 0, 12.5],
    ["the share of its units, rounded down", 0, 3, 8, 37],
    ["what the handler reports, before its units", 80, 3, 8, 80],
    ["less than 100 while it may add units", 0, 8, 8, 99],
    ["no more than that", 0, 9, 8, 99],
  ])("is %s", (_, reported, ended, total, percent) => {
    expect(percentOfPhase({ reported, units: { ended, total } })).toBe(percent);
  });
});

describe("the percent that is shown", () => {
  test.each([
    ["running", 40, 40],
    ["queued", null, 0],
    ["failed", 60, 60],
    ["cancelled", 60, 60],
    ["completed", 60, 100],
    ["completed_with_errors", null, 100],
  ] as const)("of a job that is %s with %s stored is %s", (state, stored, percent) => {
    expect(shownPercent(state, stored)).toBe(percent);
  });
});

describe("the progress of any job", () => {
  test.each([
    [{ phaseIndex: 0, phasePercent: 0, phaseCount: 3 }, 0],
    [{ phaseIndex: 2, phasePercent: 100, phaseCount: 3 }, 100],
    [{ phaseIndex: 0, phasePercent: 40, phaseCount: 0 }, 40],
    [{ phaseIndex: -1, phasePercent: -5, phaseCount: 2 }, 0],
    [{ phaseIndex: 9, phasePercent: 900, phaseCount: 2 }, 100],
    [{ phaseIndex: 1, phasePercent: Number.NaN, phaseCount: 2 }, 50],
  ])("stays within its bounds (%#)", (progress, overall) => {
    expect(overallPercent(progress)).toBe(overall);
  });

  test("never falls while a phase goes on, and not from one phase to the next", () => {
    const count = fc.integer({ min: 1, max: 30 });
    fc.assert(
      fc.property(count, fc.nat(29), fc.nat(100), fc.nat(100), (phaseCount, index, a, b) => {
        const phaseIndex = index % phaseCount;
        const at = (phasePercent: number, step = 0): number =>
          overallPercent({ phaseIndex: phaseIndex + step, phasePercent, phaseCount });

        expect(at(Math.min(a, b))).toBeLessThanOrEqual(at(Math.max(a, b)));
        expect(at(100)).toBeLessThanOrEqual(phaseIndex + 1 < phaseCount ? at(0, 1) : 100);
      }),
    );
  });
});
