import { describe, expect, test } from "vitest";
import { closest } from "./closest.ts";

describe("the closest word", () => {
  const known = ["lane", "priority", "maxAttempts", "onRetry", "onOrphan"];

  test.each([
    ["maxAttemps", "maxAttempts"],
    ["maxattempts", "maxAttempts"],
    ["pirority", "priority"],
    ["lanes", "lane"],
    ["retry", "onRetry"],
    ["retries", null],
    ["colour", null],
    ["", null],
  ])("to %j is %j", (word, meant) => {
    expect(closest(word, known)).toBe(meant);
  });

  test("is the nearest of several", () => {
    expect(closest("onRetri", ["onRetro", "onRetry", "onRetri2"])).toBe("onRetro");
    expect(closest("bases", ["basis", "base"])).toBe("basis");
    expect(closest("based", ["basic", "base"])).toBe("base");
  });
});
