import { describe, expect, test } from "vitest";
import {
  createdBetween,
  newestOf,
  NO_FIGURES,
  RANGES,
  rangeOf,
  rateText,
  startsOf,
  stepsOf,
  typeRows,
} from "./series.ts";

const NOW = Date.parse("2026-03-01T12:34:56Z");
const at = (text: string): number => Date.parse(text);

describe("the steps of a range", () => {
  test("begin at multiples of their length and end with the present step", () => {
    const starts = startsOf(rangeOf("24h"), NOW);
    expect(starts).toHaveLength(24);
    expect(starts.at(-1)).toBe(at("2026-03-01T12:00:00Z"));
    expect(starts[0]).toBe(at("2026-02-28T13:00:00Z"));
  });

  test("are at most 30 in every range", () => {
    for (const range of RANGES) expect(startsOf(range, NOW).length).toBeLessThanOrEqual(30);
  });

  test("an unknown range is an hour", () => {
    expect(rangeOf("never").id).toBe("1h");
  });
});

describe("a step", () => {
  const starts = [NOW, NOW + 60_000, NOW + 120_000];
  const groups = [
    group(NOW, "email", { runs: 30, perSecond: 0.5, failed: 3 }),
    group(NOW, "report", { runs: 30, perSecond: 0.5, crashed: 3 }),
    group(NOW + 120_000, "email", { runs: 6, perSecond: 0.1 }),
  ];

  test("adds up its groups", () => {
    const [first] = stepsOf(starts, groups);
    expect(first).toMatchObject({ runs: 60, perMinute: 60, failedPerMinute: 6 });
  });

  test("has the quantiles of a single group, and none of several", () => {
    const [first, empty, last] = stepsOf(starts, groups);
    expect(first?.figures).toBeNull();
    expect(empty?.figures).toEqual(NO_FIGURES);
    expect(last?.figures?.wait.p95).toBe(2);
  });

  test("the newest one with runs is what is true now", () => {
    expect(newestOf(stepsOf([...starts, NOW + 180_000], groups))?.at).toBe(NOW + 120_000);
    expect(newestOf(stepsOf(starts, []))).toBeNull();
  });
});

test("types come busiest first, with a trend that has zeros", () => {
  const starts = [NOW, NOW + 60_000];
  const stepped = [group(NOW + 60_000, "email", { runs: 9 }), group(NOW, "report", { runs: 1 })];
  const whole = [group(NOW, "report", { runs: 1 }), group(NOW, "email", { runs: 9 })];
  expect(typeRows(whole, stepped, starts).map(({ type, trend }) => [type, trend])).toEqual([
    ["email", [0, 9]],
    ["report", [1, 0]],
  ]);
});

test.each([
  [0, "0"],
  [0.01, "< 0.1"],
  [3.44, "3.4"],
  [12.4, "12"],
  [1940, "1,940"],
])("a rate of %s is written %s", (rate, text) => {
  expect(rateText(rate)).toBe(text);
});

test("a stretch becomes terms of the query bar", () => {
  expect(createdBetween(NOW, NOW + 1)).toBe(
    "created>2026-03-01T12:34:56.000Z created<2026-03-01T12:34:56.001Z",
  );
});

function group(
  start: number,
  type: string,
  given: { runs: number; perSecond?: number; failed?: number; crashed?: number },
): Parameters<typeof stepsOf>[1][number] {
  const { runs, perSecond = 0, failed = 0, crashed = 0 } = given;
  const quantiles = { mean: 1, p50: 1, p95: 2, p99: 3 };
  const outcomes = {
    succeeded: runs - failed - crashed,
    failed,
    timed_out: 0,
    crashed,
    cancelled: 0,
    interrupted: 0,
    snoozed: 0,
  };
  const moment = new Date(start).toISOString();
  const figures = { errorRate: 0, wait: quantiles, run: quantiles };
  return { at: moment, type, lane: "general", runs, perSecond, outcomes, ...figures };
}
