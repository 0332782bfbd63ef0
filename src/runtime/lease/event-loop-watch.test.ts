import { describe, expect, test } from "vitest";
import { wait } from "../../core/clock.ts";
import { systemClock } from "../../lib/system.ts";
import { BeatTimes } from "./beat-times.ts";
import { EventLoopWatch } from "./event-loop-watch.ts";

describe("the delay of the event loop", () => {
  test("is taken once, from the same memory", () => {
    const lag = new BeatTimes();
    const ofThread = new BeatTimes(lag.buffer);
    expect(ofThread.takeLag(1_000, null)).toBeNull();

    lag.tellLag(3, 1_001);
    lag.tellLag(12.6, 1_001);
    lag.tellLag(0, 1_001);

    expect(ofThread.takeLag(2_000, 1_000)).toBe(13);
    expect(ofThread.takeLag(3_000, 1_000)).toBeNull();
  });

  test("lasts while the loop has not heard of the last heartbeat", () => {
    const lag = new BeatTimes();
    lag.tellLag(3, 1_000);
    expect(lag.takeLag(2_000, 999)).toBe(3);

    expect(lag.takeLag(3_000, 2_001)).toBe(999);
    expect(lag.takeLag(4_000, 2_001)).toBe(1_999);
    lag.tellLag(2_100, 4_100);

    expect(lag.takeLag(5_000, 4_001)).toBe(2_100);
  });

  test.each([0, 60])("is measured when the loop is blocked %i ms after a call", async (pauseMs) => {
    const watch = new EventLoopWatch();
    watch.start();
    await wait(systemClock, 60);
    watch.take();
    if (pauseMs > 0) await wait(systemClock, pauseMs);
    const until = systemClock.monotonic() + 300;
    while (systemClock.monotonic() < until);
    await wait(systemClock, 60);

    const lag = watch.take();
    await wait(systemClock, 60);
    const next = watch.take();
    watch.stop();

    expect(lag).toBeGreaterThan(200);
    expect(next).toBeLessThan(lag);
  });
});
