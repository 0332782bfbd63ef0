import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { allows, CLOSED, forceOpen, recordFailure, recordSuccess, reset } from "./breaker.ts";
import type { BreakerState } from "./breaker.ts";

const options = { failuresMax: 5, openMs: 60_000 };
const nowMs = 1_000_000;
const laterMs = nowMs + options.openMs;

function failing(times: number, from: BreakerState = CLOSED): BreakerState {
  let breaker = from;
  for (let i = 0; i < times; i += 1) breaker = recordFailure(breaker, nowMs, options);
  return breaker;
}

function halfOpen(): BreakerState {
  return allows(failing(5), laterMs, options).next;
}

describe("a closed breaker", () => {
  test("lets calls through", () => {
    expect(allows(CLOSED, nowMs, options)).toEqual({ allowed: true, next: CLOSED });
  });

  test("opens at the fifth failure in a row", () => {
    expect(failing(4)).toMatchObject({ state: "closed", failures: 4, openedAtMs: null });
    expect(failing(5)).toEqual({
      state: "open",
      failures: 5,
      successes: 0,
      lastFailureAtMs: nowMs,
      openedAtMs: nowMs,
      halfOpenedAtMs: null,
    });
  });

  test("forgets its failures at a success", () => {
    const relieved = recordSuccess(failing(4));

    expect(relieved).toMatchObject({ state: "closed", failures: 0, successes: 1 });
    expect(failing(4, relieved).state).toBe("closed");
  });
});

describe("an open breaker", () => {
  test("refuses calls until its time is over", () => {
    const open = failing(5);

    expect(allows(open, laterMs - 1, options)).toEqual({ allowed: false, next: open });
    expect(allows(open, laterMs, options).allowed).toBe(true);
  });

  test("is not changed by what was under way before it opened", () => {
    const open = failing(5);

    expect(recordSuccess(open)).toEqual(open);
    expect(recordFailure(open, nowMs + 9, options)).toMatchObject({
      state: "open",
      openedAtMs: nowMs,
      lastFailureAtMs: nowMs + 9,
    });
  });

  test("lets a probe through at once when nobody knows since when it is open", () => {
    const strange: BreakerState = { ...failing(5), openedAtMs: null };

    expect(allows(strange, nowMs, options).next.state).toBe("half_open");
  });
});

describe("a half-open breaker", () => {
  test("has let exactly one probe through", () => {
    expect(halfOpen()).toMatchObject({ state: "half_open", halfOpenedAtMs: laterMs });
    expect(allows(halfOpen(), laterMs, options)).toEqual({ allowed: false, next: halfOpen() });
  });

  test("closes when the probe succeeds", () => {
    expect(recordSuccess(halfOpen())).toEqual({
      ...CLOSED,
      successes: 1,
      lastFailureAtMs: nowMs,
    });
  });

  test("opens anew when the probe fails", () => {
    expect(recordFailure(halfOpen(), laterMs + 5, options)).toMatchObject({
      state: "open",
      openedAtMs: laterMs + 5,
      halfOpenedAtMs: null,
    });
  });

  test("lets another probe through when the first is not heard of again", () => {
    const muchLaterMs = laterMs + options.openMs;

    expect(allows(halfOpen(), muchLaterMs - 1, options).allowed).toBe(false);
    expect(allows(halfOpen(), muchLaterMs, options)).toMatchObject({
      allowed: true,
      next: { state: "half_open", halfOpenedAtMs: muchLaterMs },
    });
  });
});

describe("an operator", () => {
  test("can open a breaker by force", () => {
    expect(allows(forceOpen(CLOSED, nowMs), nowMs, options).allowed).toBe(false);
    expect(allows(forceOpen(CLOSED, nowMs), laterMs, options).allowed).toBe(true);
  });

  test("can reset a breaker, and still see when it last failed", () => {
    expect(reset(failing(5))).toEqual({ ...CLOSED, lastFailureAtMs: nowMs });
  });
});

describe("any history of a breaker", () => {
  const step = fc.record({
    act: fc.constantFrom("ask", "fail", "succeed", "force", "reset"),
    afterMs: fc.nat(2 * options.openMs),
  });

  test("never lets two calls through within one open time unless it is closed", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let breaker = CLOSED;
        let atMs = nowMs;
        let probedAtMs = Number.NEGATIVE_INFINITY;

        for (const { act, afterMs } of steps) {
          atMs += afterMs;
          const wasClosed = breaker.state === "closed";
          if (act === "fail") breaker = recordFailure(breaker, atMs, options);
          if (act === "succeed") breaker = recordSuccess(breaker);
          if (act === "force") breaker = forceOpen(breaker, atMs);
          if (act === "reset") breaker = reset(breaker);
          if (act !== "ask") continue;

          const { allowed, next } = allows(breaker, atMs, options);
          breaker = next;
          if (wasClosed || !allowed) continue;
          expect(atMs - probedAtMs).toBeGreaterThanOrEqual(options.openMs);
          probedAtMs = atMs;
        }
      }),
    );
  });
});
