import { describe, expect, test } from "vitest";
import {
  createdBetween,
  laneTrends,
  newestOf,
  NO_FIGURES,
  RANGES,
  rangeOf,
  rateText,
  stepsOf,
  stretchOf,
  typeRows,
} from "./series.ts";

const NOW = Date.parse("2026-03-01T12:34:56Z");
const at = (text: string): number => Date.parse(text);

describe("the steps of a range", () => {
  test("begin at multiples of their length and end with the present step", () => {
    const { starts, to } = stretchOf(rangeOf("24h"), NOW, "utc");
    expect(to).toBeNull();
    expect(starts).toHaveLength(24);
    expect(starts.at(-1)).toBe(at("2026-03-01T12:00:00Z"));
    expect(starts[0]).toBe(at("2026-02-28T13:00:00Z"));
  });

  test("are at most 30 in every range", () => {
    for (const range of RANGES) {
      expect(stretchOf(range, NOW, "local").starts.length).toBeLessThanOrEqual(30);
    }
  });

  test.each([
    ["night", "2026-03-01T12:34:56Z", "2026-02-28T18:00:00Z", "2026-03-01T06:00:00Z", 24],
    ["night", "2026-03-01T05:59:59Z", "2026-02-27T18:00:00Z", "2026-02-28T06:00:00Z", 24],
    ["night", "2026-03-01T06:00:00Z", "2026-02-28T18:00:00Z", "2026-03-01T06:00:00Z", 24],
    ["yesterday", "2026-03-01T12:34:56Z", "2026-02-28T00:00:00Z", "2026-03-01T00:00:00Z", 24],
  ])("of %s at %s go from %s to %s", (id, now, from, to, count) => {
    const stretch = stretchOf(rangeOf(id), at(now), "utc");
    expect(stretch.starts).toHaveLength(count);
    expect(stretch).toMatchObject({ starts: { 0: at(from) }, to: at(to) });
  });

  test("of a night are by the clock on the wall of the reader", () => {
    const { starts, to } = stretchOf(rangeOf("night"), NOW, "local");
    expect([starts[0], to].map((each) => new Date(each ?? 0).getHours())).toEqual([18, 6]);
  });

  test("an unknown range is an hour", () => {
    expect(rangeOf("never").id).toBe("1h");
  });
});

describe("a step", () => {
  const starts = [NOW, NOW + 60_000, NOW + 120_000];
  const steps = [
    group(NOW, "all", { runs: 60, perSecond: 1, failed: 3, crashed: 3 }),
    group(NOW + 120_000, "all", { runs: 6, perSecond: 0.1 }),
  ];

  test("has rates per minute and the quantiles over all types", () => {
    const [first] = stepsOf(starts, steps);
    expect(first).toMatchObject({ runs: 60, perMinute: 60, failedPerMinute: 6 });
    expect(first?.figures.wait.p95).toBe(2);
  });

  test("without runs has no figures", () => {
    expect(stepsOf(starts, steps)[1]).toMatchObject({ runs: 0, figures: NO_FIGURES });
  });

  test("the newest one with runs is what is true now", () => {
    expect(newestOf(stepsOf([...starts, NOW + 180_000], steps))?.at).toBe(NOW + 120_000);
    expect(newestOf(stepsOf(starts, []))).toBeNull();
  });
});

describe("the groups of a range", () => {
  const starts = [NOW, NOW + 60_000];
  const stepped = [
    group(NOW + 60_000, "email", { runs: 9, perSecond: 0.5 }),
    group(NOW, "report", { runs: 1, perSecond: 0.1 }),
  ];
  const whole = [
    group(NOW, "report", { runs: 1, perSecond: 0.05 }),
    group(NOW, "email", { runs: 9, perSecond: 0.25 }),
  ];

  test("come busiest first, with the rate of each step", () => {
    expect(typeRows(whole, stepped, starts).map(({ type, trend }) => [type, trend])).toEqual([
      ["email", [0, 30]],
      ["report", [6, 0]],
    ]);
  });

  test("add up to the rates of their lane", () => {
    const lanes = laneTrends(typeRows(whole, stepped, starts));
    expect([...lanes]).toEqual([["general", { perMinute: 18, trend: [6, 30] }]]);
  });
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
): Parameters<typeof typeRows>[0][number] {
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
