import { expect, test } from "vitest";
import { healthOf } from "./health.ts";

test("reports what the worker says", () => {
  expect(healthOf({ memoryBytes: 1_024, loopLagMs: 3 })).toEqual({
    memoryBytes: 1_024,
    loopLagMs: 3,
    isLagging: false,
  });
});

test("a long lag is told", () => {
  expect(healthOf({ loopLagMs: 250 }).isLagging).toBe(true);
});

test.each([{}, { memoryBytes: null, loopLagMs: "x" }])("%j reports nothing", (worker) => {
  expect(healthOf(worker)).toEqual({ memoryBytes: null, loopLagMs: null, isLagging: false });
});
