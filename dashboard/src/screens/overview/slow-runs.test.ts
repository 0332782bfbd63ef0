import { describe, expect, test } from "vitest";
import { slowLimit, unitsText } from "./slow-runs.ts";

const MINUTE = 60_000;
const email = { type: "email", lane: "fast" };

function known(p95: number | null, runs = 20) {
  return [{ ...email, runs, run: { mean: null, p50: null, p95, p99: null } }];
}

describe("slowLimit", () => {
  test("is ten minutes for a type without figures", () => {
    expect(slowLimit(email, [])).toEqual({ ms: 10 * MINUTE, text: "longer than 10 min" });
    expect(slowLimit(email, known(null)).ms).toBe(10 * MINUTE);
    expect(slowLimit(email, known(MINUTE, 19)).ms).toBe(10 * MINUTE);
    expect(slowLimit({ ...email, lane: "general" }, known(MINUTE)).ms).toBe(10 * MINUTE);
  });

  test("is twice the p95 of the type in its lane", () => {
    expect(slowLimit(email, known(MINUTE))).toEqual({
      ms: 2 * MINUTE,
      text: "longer than 2 min, by the p95 of its type",
    });
    expect(slowLimit(email, known(60 * MINUTE)).ms).toBe(120 * MINUTE);
  });

  test("is ten seconds at least", () => {
    expect(slowLimit(email, known(20)).ms).toBe(10_000);
  });
});

describe("unitsText", () => {
  const job = { progress: 33.7 };
  const units = { total: 1_040, planned: 1_000, running: 28, completed: 12, failed: 0 };

  test("counts the units that have ended, and those that failed", () => {
    expect(unitsText({ job, units })).toBe("12 of 1,040");
    expect(unitsText({ job, units: { ...units, completed: 11, failed: 1 } })).toBe(
      "12 of 1,040, 1 failed",
    );
  });

  test("is the percent of a job without units, and a dash before it tells any", () => {
    const none = { ...units, total: 0 };
    expect(unitsText({ job, units: none })).toBe("33 %");
    expect(unitsText({ job: { progress: 0 }, units: none })).toBe("–");
  });
});
