import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DURATION_MS_MAX, durationMs, formatDuration, instantMs, waitMs } from "./duration.ts";
import type { Duration, Instant } from "./duration.ts";
import { MillraceError } from "./errors.ts";

describe("durationMs", () => {
  test.each<[Duration, number]>([
    [0, 0],
    [1500, 1500],
    [1.4, 1],
    ["250ms", 250],
    ["90s", 90_000],
    ["1.1s", 1_100],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["7d", 604_800_000],
    [DURATION_MS_MAX, DURATION_MS_MAX],
  ])("reads %j", (value, ms) => {
    expect(durationMs(value, "delay")).toBe(ms);
  });

  test.each([
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    DURATION_MS_MAX + 1,
    "36526d",
    "5 minutes",
    "5",
    "",
    "-5s",
    "1e3s",
    "5S",
    "5s ",
    null,
    undefined,
    {},
    5n,
  ])("refuses bad value %# and names the option, the value and a good example", (value) => {
    const read = (): unknown => Reflect.apply(durationMs, undefined, [value, "delay"]);

    expect(read).toThrow(MillraceError);
    expect(read).toThrow(/^delay is .+ not a duration: .*"5m"/);
    expect(read).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(read).toThrow(expect.objectContaining({ details: { option: "delay" } }));
  });

  test("shows the value that it refuses", () => {
    expect(() => durationMs(-5, "delay")).toThrow("delay is -5,");
  });

  test("gives whole milliseconds within its bounds for every text it accepts", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: DURATION_MS_MAX, noNaN: true }), (value) => {
        const ms = durationMs(value, "delay");

        expect(Number.isSafeInteger(ms)).toBe(true);
        expect(Math.abs(ms - value)).toBeLessThanOrEqual(0.5);
      }),
    );
  });
});

describe("instantMs", () => {
  const noonMs = Date.UTC(2026, 10, 15, 12);

  test.each<[Instant, number]>([
    [new Date(noonMs), noonMs],
    [noonMs, noonMs],
    [noonMs + 0.4, noonMs],
    ["2026-11-15T12:00:00Z", noonMs],
    ["2026-11-15T12:00Z", noonMs],
    ["2026-11-15T13:00:00.000+01:00", noonMs],
    ["2026-11-15T12:00:00.5Z", noonMs + 500],
    ["2026-11-15", Date.UTC(2026, 10, 15)],
    ["2024-02-29", Date.UTC(2024, 1, 29)],
  ])("reads %j", (value, ms) => {
    expect(instantMs(value, "runAt")).toBe(ms);
  });

  test.each([
    new Date(Number.NaN),
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    8_640_000_000_000_001,
    "120",
    "tomorrow",
    "2026-11-15T12:00:00",
    "2026-02-29",
    "2026-13-01",
    "2026-11-15T25:00:00Z",
    "Sun, 15 Nov 2026 12:00:00 GMT",
    null,
    {},
  ])("refuses %j and names the option and a good example", (value) => {
    const read = (): unknown => Reflect.apply(instantMs, undefined, [value, "runAt"]);

    expect(read).toThrow(/^runAt is .+ not an instant: .*"2026-11-15T10:00:00Z"/);
    expect(read).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  test("reads every ISO text that a Date writes", () => {
    const dates = fc.date({ min: new Date(0), max: new Date("2250-12-31"), noInvalidDate: true });
    fc.assert(
      fc.property(dates, (date) => {
        expect(instantMs(date.toISOString(), "runAt")).toBe(date.getTime());
      }),
    );
  });
});

describe("waitMs", () => {
  const nowMs = Date.UTC(2026, 10, 15, 12);

  test.each([
    [30_000, 30_000],
    ["30s", 30_000],
    [new Date(nowMs + 5_000), 5_000],
    ["2026-11-15T12:01:00Z", 60_000],
    ["2026-11-15T11:00:00Z", 0],
    [-5, 0],
    ["2999-01-01", DURATION_MS_MAX],
  ])("reads %j as a length from now", (value, ms) => {
    expect(waitMs(value, nowMs)).toBe(ms);
  });

  test.each(["soon", "120", undefined, null, {}, Number.NaN, Number.POSITIVE_INFINITY])(
    "answers null to %j",
    (value) => {
      expect(waitMs(value, nowMs)).toBeNull();
    },
  );
});

describe("formatDuration", () => {
  test.each([
    [-5, "0 ms"],
    [0, "0 ms"],
    [999.9, "999 ms"],
    [1_000, "1 s"],
    [1_550, "1.5 s"],
    [59_999, "59.9 s"],
    [60_000, "1 min"],
    [90_000, "1 min 30 s"],
    [3_600_000, "1 h"],
    [3_900_000, "1 h 5 min"],
    [3_959_000, "1 h 5 min"],
    [86_400_000, "1 d"],
    [97_200_000, "1 d 3 h"],
  ])("shows %i as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});
