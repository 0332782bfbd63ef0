import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CLOSED, endProbe, forceOpen, isProbeDue, recordFailure } from "./breaker.ts";
import {
  probeAt,
  recordImpliedSuccess,
  recordSuccess,
  reset,
  startProbe,
  type Breaker,
  type BreakerRun,
} from "./breaker.ts";

const limits = { failuresMax: 5, openMs: 60_000 };
const nowMs = 1_000_000;
const laterMs = nowMs + limits.openMs;
const run: BreakerRun = { key: 7, n: 1 };
const other: BreakerRun = { key: 8, n: 1 };

function fail(breaker: Breaker, by: BreakerRun = run, at: number = nowMs) {
  return recordFailure(breaker, { run: by, reason: "hung up", nowMs: at, limits });
}

function failing(times: number, from: Breaker = CLOSED): Breaker {
  let breaker = from;
  for (let i = 0; i < times; i += 1) breaker = fail(breaker).next;
  return breaker;
}

function halfOpen(): Breaker {
  return startProbe(failing(5), run, laterMs);
}

describe("a closed breaker", () => {
  test("counts failures, each of which is charged, and opens at the limit (004-23)", () => {
    expect(fail(CLOSED).isCounted).toBe(true);
    expect(failing(4)).toMatchObject({ state: "closed", failures: 4, openedAtMs: null });
    expect(failing(5)).toEqual({
      state: "open",
      failures: 5,
      successes: 0,
      lastFailureAtMs: nowMs,
      openedAtMs: nowMs,
      halfOpenedAtMs: null,
      probeAtMs: laterMs,
      probe: null,
      reason: "hung up",
      by: null,
    });
  });

  test("begins to count anew after a success", () => {
    const recovered = recordSuccess(failing(4), null, 3);
    expect(recovered).toMatchObject({ failures: 0, successes: 3, reason: null });
    expect(failing(4, recovered).state).toBe("closed");
    expect(failing(5, recovered).state).toBe("open");
  });

  test("is not changed by a success without failures before", () => {
    expect(recordSuccess(CLOSED, null, 1)).toBe(CLOSED);
  });

  test("needs no probe", () => {
    expect(isProbeDue(CLOSED, laterMs, true)).toBe(false);
  });
});

describe("an open breaker", () => {
  test("is due for a probe after the time that it stays open", () => {
    expect(isProbeDue(failing(5), laterMs - 1, true)).toBe(false);
    expect(isProbeDue(failing(5), laterMs, false)).toBe(true);
  });

  test("is due at once if the clock was ahead when it opened, and went back", () => {
    expect(isProbeDue(failing(5), nowMs - 1, false)).toBe(true);
    expect(probeAt(failing(5), nowMs - 1)).toBe(nowMs - 1);
    expect(probeAt(failing(5), nowMs)).toBe(laterMs);
    const kept = forceOpen(failing(5), { reason: "they asked us to stop", by: "ada", nowMs });
    expect(isProbeDue(kept, nowMs - 1, false)).toBe(false);
    expect(probeAt(kept, nowMs - 1)).toBeNull();
  });

  test("neither counts nor charges failures of runs that began before it opened", () => {
    const breaker = failing(5);
    expect(fail(breaker, other, laterMs)).toEqual({ next: breaker, isCounted: false });
    expect(recordSuccess(breaker, other, 1)).toBe(breaker);
  });

  test("stays open without a probe when an operator has opened it, until a reset (004-26)", () => {
    const why = { reason: "they asked us to stop", by: "ada", nowMs };
    const breaker = forceOpen(CLOSED, why);
    expect(breaker).toMatchObject({
      state: "open",
      openedAtMs: nowMs,
      probeAtMs: null,
      reason: "they asked us to stop",
      by: "ada",
    });
    expect(isProbeDue(breaker, Number.MAX_SAFE_INTEGER, true)).toBe(false);
    expect(forceOpen(breaker, { ...why, nowMs: laterMs }).openedAtMs).toBe(nowMs);
    expect(forceOpen(halfOpen(), why).probe).toBeNull();
    expect(reset(breaker, "bob")).toEqual({ ...CLOSED, by: "bob" });
  });
});

describe("a half-open breaker", () => {
  test("closes by the success of its probe alone", () => {
    expect(recordSuccess(halfOpen(), other, 1)).toEqual(halfOpen());
    expect(recordSuccess(halfOpen(), null, 1)).toEqual(halfOpen());
    expect(recordSuccess(halfOpen(), { ...run, n: 2 }, 1)).toEqual(halfOpen());
    expect(recordSuccess(halfOpen(), run, 1)).toEqual({
      ...CLOSED,
      lastFailureAtMs: nowMs,
      successes: 1,
    });
  });

  test("closes on trial by the implied success of its probe: the next failure opens it", () => {
    const onTrial = recordImpliedSuccess(halfOpen(), run);
    expect(onTrial).toEqual({
      ...CLOSED,
      failures: 5,
      lastFailureAtMs: nowMs,
      reason: "the next failure opens the breaker: a probe of several services closed it on trial",
    });
    const { next, isCounted } = fail(onTrial, other, laterMs);
    expect(isCounted).toBe(true);
    expect(next).toMatchObject({ state: "open", failures: 6, reason: "hung up" });
    expect(fail(next, run, laterMs).isCounted).toBe(false);
  });

  test("ends its trial by the success of any call", () => {
    const proven = recordSuccess(recordImpliedSuccess(halfOpen(), run), null, 2);
    expect(proven).toEqual({ ...CLOSED, lastFailureAtMs: nowMs, successes: 2 });
  });

  test("is not closed by the implied success of another run, and no other breaker is", () => {
    for (const breaker of [halfOpen(), failing(5), failing(4), CLOSED]) {
      expect(recordImpliedSuccess(breaker, other)).toBe(breaker);
    }
    expect(recordImpliedSuccess(failing(4), run)).toEqual(failing(4));
  });

  test("opens again by the failure of its probe, which is charged", () => {
    const { next, isCounted } = fail(halfOpen(), run, laterMs + 10);
    expect(isCounted).toBe(true);
    expect(next).toMatchObject({
      state: "open",
      failures: 6,
      openedAtMs: laterMs + 10,
      probeAtMs: laterMs + 10 + limits.openMs,
      probe: null,
    });
  });

  test("opens again when its probe ends without a verdict, and counts no failure", () => {
    const end = { nowMs: laterMs + 10, limits };
    expect(endProbe(halfOpen(), { ...end, run })).toEqual({
      ...failing(5),
      openedAtMs: laterMs + 10,
      probeAtMs: laterMs + 10 + limits.openMs,
    });
    expect(endProbe(halfOpen(), { ...end, run: other })).toEqual(halfOpen());
    expect(endProbe(failing(5), { ...end, run })).toEqual(failing(5));
    expect(endProbe(CLOSED, { ...end, run })).toBe(CLOSED);
  });

  test("does not charge failures of other runs", () => {
    expect(fail(halfOpen(), other)).toEqual({ next: halfOpen(), isCounted: false });
  });

  test("replaces a probe that has ended without a verdict, and no other", () => {
    expect(isProbeDue(halfOpen(), Number.MAX_SAFE_INTEGER, false)).toBe(false);
    expect(isProbeDue(halfOpen(), laterMs, true)).toBe(true);
    expect(startProbe(halfOpen(), other, laterMs + 5)).toMatchObject({
      probe: other,
      halfOpenedAtMs: laterMs + 5,
    });
  });
});

test("an outage charges at most the limit and one attempt per probe, in any order", () => {
  const step = fc.constantFrom("probe", "fail", "probe fails", "probe says little", "wait");
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let [breaker, now, charged, probes] = [CLOSED, nowMs, 0, 0];
      for (const [index, next] of steps.entries()) {
        const own = { key: 100 + index, n: 1 };
        if (next === "wait") now += limits.openMs;
        if (next === "probe" && isProbeDue(breaker, now, false)) {
          breaker = startProbe(breaker, own, now);
          probes += 1;
        }
        if (next === "probe says little" && breaker.probe !== null) {
          breaker = recordImpliedSuccess(breaker, breaker.probe);
        }
        if (next === "fail" || next === "probe fails") {
          const by = next === "fail" ? own : (breaker.probe ?? own);
          const answer = fail(breaker, by, now);
          breaker = answer.next;
          if (answer.isCounted) charged += 1;
        }
      }
      expect(charged).toBeLessThanOrEqual(limits.failuresMax + probes);
    }),
  );
});
