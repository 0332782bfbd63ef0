import { describe, expect, test } from "vitest";
import { LOOK_MS_MAX, supervise, type AttemptFact, type SuperviseRule } from "./supervise.ts";

const RULE: SuperviseRule = {
  maxAttempts: 3,
  backoff: {
    kind: "exponential",
    baseMs: 10_000,
    factor: 2,
    jitter: 0,
    capMs: 3_600_000,
    jitterAt: "cap",
  },
};
const outstanding = (startedAt: number): AttemptFact => ({ state: "outstanding", startedAt });
const failed = (endedAt: number, isFinal = false): AttemptFact => ({
  state: "failed",
  endedAt,
  message: `failed at ${endedAt}`,
  isFinal,
});

describe("supervise", () => {
  test("starts the first attempt at once", () => {
    expect(supervise([], 5, RULE)).toEqual({ next: "start", n: 1 });
  });

  test("starts no second attempt while one is outstanding (002-24)", () => {
    expect(supervise([failed(0), outstanding(0)], 90_000, RULE)).toEqual({
      next: "wait",
      delayMs: 90_000,
    });
  });

  test.each([
    [0, 1_000],
    [-50_000, 1_000],
    [4_000, 4_000],
    [86_400_000, LOOK_MS_MAX],
  ])("looks again at an attempt of %d ms after %d ms", (age, delayMs) => {
    expect(supervise([outstanding(100_000)], 100_000 + age, RULE)).toEqual({
      next: "wait",
      delayMs,
    });
  });

  test("waits longer after each failure (002-24)", () => {
    expect(supervise([failed(1_000)], 1_000, RULE)).toEqual({ next: "wait", delayMs: 10_000 });
    expect(supervise([failed(0), failed(1_000)], 1_000, RULE)).toEqual({
      next: "wait",
      delayMs: 20_000,
    });
  });

  test("starts the next attempt when it has waited", () => {
    expect(supervise([failed(1_000)], 11_000, RULE)).toEqual({ next: "start", n: 2 });
  });

  test.each([10_901, 10_999])("waits no shorter than a job can, at %d ms", (now) => {
    expect(supervise([failed(1_000)], now, RULE)).toEqual({ next: "wait", delayMs: 100 });
  });

  test("waits no longer than the backoff when the clock of the store is ahead", () => {
    expect(supervise([failed(900_000)], 0, RULE)).toEqual({ next: "wait", delayMs: 10_000 });
  });

  test("is over after a success, whatever failed before", () => {
    expect(supervise([failed(0), { state: "succeeded" }], 0, RULE)).toEqual({
      next: "succeeded",
      n: 2,
    });
  });

  test("is stuck after the last permitted failure (002-24)", () => {
    expect(supervise([failed(0), failed(1), failed(2)], 900_000, RULE)).toEqual({
      next: "stuck",
      failures: 3,
      message: "failed at 2",
    });
  });

  test("is stuck after a failure that no attempt can heal (C-12)", () => {
    expect(supervise([failed(7, true)], 900_000, RULE)).toEqual({
      next: "stuck",
      failures: 1,
      message: "failed at 7",
    });
  });
});
