import { expect, test } from "vitest";
import { lengthOf, lengthText, ruleOf, typedRule } from "./limit-rule.ts";

test.each([
  ["90s", 90_000],
  ["1m", 60_000],
  ["0.5h", 1_800_000],
  ["250 ms", 250],
  ["soon", null],
  ["5", null],
])("the length %s is %s ms", (text, ms) => {
  expect(lengthOf(text)).toBe(ms);
});

test.each([
  [90_000, "90s"],
  [3_600_000, "1h"],
  [250, "250ms"],
])("%s ms is written %s", (ms, text) => {
  expect(lengthText(ms)).toBe(text);
});

test("a rule is what was typed, and nothing for empty fields", () => {
  const typed = { concurrency: " 5", limit: "100", per: "1m", burst: "" };
  expect(ruleOf(typed)).toEqual({ concurrency: 5, rate: { limit: 100, perMs: 60_000 } });
  expect(ruleOf({ concurrency: "", limit: "", per: "", burst: "7" })).toEqual({});
});

test("a rule comes back as it was typed", () => {
  const rule = { concurrency: null, rate: { limit: 10, perMs: 1_000, burst: 20 } };
  expect(ruleOf(typedRule(rule))).toEqual({ rate: { limit: 10, perMs: 1_000, burst: 20 } });
});

test.each([
  [{ concurrency: "many" }, "no whole number"],
  [{ limit: "5", per: "often" }, "no length of time"],
])("%j is refused with a reason", (part, reason) => {
  const typed = { concurrency: "", limit: "", per: "1m", burst: "" };
  expect(() => ruleOf({ ...typed, ...part })).toThrow(reason);
});
