import { describe, expect, test } from "vitest";
import { virtualClock } from "../../../test/support/virtual-clock.ts";
import { drainTimedOut } from "./drain-words.ts";
import { isDrained, waitForDrain, type RunningNow } from "./drain.ts";

const TIMEOUT_MS = 10_000;

function count(running: number, overrides: Partial<RunningNow> = {}): RunningNow {
  return { running, atLeast: false, ids: [], claims: [], ...overrides };
}

/** Waits with these counts, the last of which stays. */
function waiting(counts: readonly RunningNow[], signal?: AbortSignal, wake?: AbortSignal) {
  const clock = virtualClock();
  const asked: (readonly string[] | undefined)[] = [];
  const shown: number[] = [];
  const ended = waitForDrain({
    clock,
    timeoutMs: TIMEOUT_MS,
    signal,
    ...(wake === undefined ? {} : { wake }),
    count: async (claims) => {
      asked.push(claims);
      return counts[Math.min(asked.length, counts.length) - 1] ?? count(0);
    },
    onCount: ({ running }) => shown.push(running),
  });
  return { clock, asked, shown, ended };
}

describe("waitForDrain", () => {
  test("ends with the first count of zero, and shows each change once", async () => {
    const { clock, shown, ended } = waiting([count(2), count(2), count(1), count(0)]);
    await clock.advance(TIMEOUT_MS);

    expect(isDrained(await ended)).toBe(true);
    expect(shown).toEqual([2, 1, 0]);
  });

  test("waits for the claims that were under way, and asks for these alone", async () => {
    const claims = ["1/2", "3/4"];
    const { clock, asked, ended } = waiting([count(0, { claims }), count(0)]);
    await clock.advance(TIMEOUT_MS);

    expect(isDrained(await ended)).toBe(true);
    expect(asked).toEqual([undefined, claims]);
  });

  test("ends with the last count when the time is over", async () => {
    const { clock, shown, ended } = waiting([count(1), count(1, { atLeast: true })]);
    await clock.advance(TIMEOUT_MS);

    expect(isDrained(await ended)).toBe(false);
    expect(shown).toEqual([1, 1]);
  });

  test("waits longer from count to count while nothing changes", async () => {
    const { clock, asked, ended } = waiting([count(1)]);
    await clock.advance(TIMEOUT_MS);
    await ended;

    expect(asked.length).toBeLessThan(12);
  });

  test("counts at once when it is woken", async () => {
    const wake = new AbortController();
    const { asked, ended } = waiting([count(1), count(0)], undefined, wake.signal);
    await Promise.resolve();
    wake.abort();

    expect(isDrained(await ended)).toBe(true);
    expect(asked).toHaveLength(2);
  });

  test("is rejected with the reason of the abort", async () => {
    const stop = new AbortController();
    const { ended } = waiting([count(1)], stop.signal);
    stop.abort(new Error("enough"));

    await expect(ended).rejects.toThrow("enough");
  });
});

describe("drainTimedOut", () => {
  const lane = { kind: "lane", name: "reports" };

  test.each([
    [lane, count(1), "1 job still runs after 10 s; the lane reports stays paused"],
    [lane, count(3), "3 jobs still run after 10 s; the lane reports stays paused"],
    [
      { kind: "installation", name: "all" },
      count(9, { atLeast: true }),
      "at least 9 jobs still run after 10 s; the installation stays paused",
    ],
    [
      { kind: "worker", name: "w1" },
      count(0, { claims: ["1/2"] }),
      "1 claim(s) are still under way after 10 s; the worker w1 stays quiet",
    ],
  ])("of %o with %o", (target, last, message) => {
    const error = drainTimedOut(target, last, TIMEOUT_MS);

    expect(error).toMatchObject({ code: "DRAIN_TIMED_OUT", message });
    expect(error.details).toMatchObject({ ...target, running: last.running });
  });
});
