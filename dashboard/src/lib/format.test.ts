import { describe, expect, test } from "vitest";
import {
  bytesText,
  clockText,
  countText,
  durationText,
  momentText,
  percentText,
  relativeText,
  shortId,
} from "./format.ts";

describe("durationText", () => {
  test.each([
    [-5, "0 ms"],
    [420, "420 ms"],
    [1_900, "1.9 s"],
    [12_400, "12 s"],
    [60_000, "1 min"],
    [252_000, "4 min 12 s"],
    [7_560_000, "2 h 6 min"],
    [200_000_000, "2 d 7 h"],
  ])("writes %d ms with at most two units", (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});

describe("relativeText", () => {
  test("says how long ago, or in which time", () => {
    expect(relativeText(0, 90_000)).toBe("1 min ago");
    expect(relativeText(7_200_000, 0)).toBe("in 2 h");
    expect(relativeText(100, 0)).toBe("now");
  });
});

describe("momentText", () => {
  test("names the zone", () => {
    expect(momentText(0, "utc")).toBe("1970-01-01 00:00:00.000 UTC");
    expect(momentText(0, "local")).toMatch(/^19(69|70)-.* [+-]\d\d:\d\d$/);
    expect(clockText(3_600_000, "utc")).toBe("01:00");
  });
});

describe("counts and sizes", () => {
  test("are exact, and say where counting has stopped", () => {
    expect(countText({ count: 1_284_911, atLeast: false })).toBe("1,284,911");
    expect(countText({ count: 10_000, atLeast: true })).toBe("10,000+");
    expect(bytesText(0)).toBe("0 B");
    expect(bytesText(1_536)).toBe("1.5 KB");
    expect(bytesText(73_400_320)).toBe("70 MB");
    expect(percentText(0.0034)).toBe("0.3 %");
    expect(shortId("01K9ZQ4H7M3V8T2XE6RNQ4C7XQ")).toBe("…Q4C7XQ");
  });
});
