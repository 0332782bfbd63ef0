import { describe, expect, test } from "vitest";
import { virtualClock } from "../../../test/support/virtual-clock.ts";
import { BeatTimes } from "./beat-times.ts";
import { LeaseTimer, type ExpiryCause } from "./lease-timer.ts";

const LEASE_MS = 3_000;
const BEAT_MS = 1_000;

describe("a lease", () => {
  test("expires a lease after the last successful heartbeat was sent", async () => {
    const { clock, timer, beat, expired } = makeWorld();
    await clock.advance(1_000);
    beat(clock.monotonic());

    await clock.advance(LEASE_MS - 1);
    expect([timer.holds, expired]).toEqual([true, []]);
    await clock.advance(1);

    expect(timer.holds).toBe(false);
    expect(expired).toHaveLength(1);
  });

  test("that has expired holds again with the next successful heartbeat", async () => {
    const { clock, timer, beat, renewed } = makeWorld();
    await clock.advance(LEASE_MS + 500);

    beat(clock.monotonic());

    expect(timer.holds).toBe(true);
    expect(renewed).toEqual([500]);
  });

  test("is not renewed by the late answer to a heartbeat that was sent a lease ago", async () => {
    const { clock, timer, beat, renewed } = makeWorld();
    await clock.advance(500);
    const sentAt = clock.monotonic();
    await clock.advance(LEASE_MS);

    beat(sentAt);

    expect([timer.holds, renewed]).toEqual([false, []]);
  });

  test("that expires twice is told twice", async () => {
    const { clock, beat, expired } = makeWorld();
    await clock.advance(LEASE_MS);
    beat(clock.monotonic());
    await clock.advance(LEASE_MS);
    expect(expired).toHaveLength(2);
  });

  test("that a thread has renewed does not expire before the loop hears of it", async () => {
    const { clock, times, timer, expired } = makeWorld();
    await clock.advance(LEASE_MS - 1);
    const at = clock.monotonic();
    new BeatTimes(times.buffer).renewed({ sentAt: at, answeredAt: at });

    await clock.advance(LEASE_MS - 1);

    expect([timer.holds, expired]).toEqual([true, []]);
  });
});

describe("a process that was stopped for longer than its lease", () => {
  test("waits for one heartbeat before its lease expires", async () => {
    const { clock, expired, timer, times } = makeWorld();
    timer.stop();
    await clock.advance(2 * LEASE_MS);

    timer.start();
    expect([timer.holds, expired.length]).toEqual([false, 0]);
    times.renewed({ sentAt: clock.monotonic(), answeredAt: clock.monotonic() });
    await clock.advance(BEAT_MS);

    expect([timer.holds, expired.length]).toEqual([true, 0]);
  });

  test("lets its lease expire if no heartbeat succeeds", async () => {
    const { clock, expired, timer } = makeWorld();
    timer.stop();
    await clock.advance(2 * LEASE_MS);

    timer.start();
    await clock.advance(BEAT_MS);

    expect([timer.holds, expired.length]).toEqual([false, 1]);
  });
});

describe("the cause of an expiry", () => {
  test("is the store's error, if the last heartbeat failed", async () => {
    const { clock, times, timer, expired } = makeWorld();
    await clock.advance(BEAT_MS);
    times.sending(clock.monotonic());
    const error = new Error("planted");
    timer.failed(error);
    await clock.advance(LEASE_MS);
    expect(expired).toEqual([{ type: "failed", error }]);
  });

  test("is the silence of the store, if a heartbeat was sent in time", async () => {
    const { clock, times, expired } = makeWorld();
    await clock.advance(BEAT_MS);
    times.sending(clock.monotonic());
    await clock.advance(LEASE_MS);
    expect(expired).toEqual([{ type: "silent", ms: LEASE_MS - BEAT_MS }]);
  });

  test("is the silence of the store, if the last answer came late", async () => {
    const { clock, times, beat, expired } = makeWorld();
    await clock.advance(BEAT_MS);
    const sentAt = clock.monotonic();
    await clock.advance(LEASE_MS - BEAT_MS - 1);
    beat(sentAt);
    times.sending(clock.monotonic());
    await clock.advance(LEASE_MS);
    expect(expired).toEqual([{ type: "silent", ms: LEASE_MS }]);
  });

  test("is a blocked event loop, if no heartbeat was sent", async () => {
    const { clock, expired } = makeWorld();
    await clock.advance(LEASE_MS);
    expect(expired).toEqual([{ type: "blocked", ms: LEASE_MS - BEAT_MS }]);
  });

  test("is a blocked event loop, if the heartbeat was sent right before", async () => {
    const { clock, times, expired } = makeWorld();
    await clock.advance(LEASE_MS - 1);
    times.sending(clock.monotonic());
    await clock.advance(1);
    expect(expired).toEqual([{ type: "blocked", ms: LEASE_MS - BEAT_MS - 1 }]);
  });
});

/** A lease that was granted now. */
function makeWorld() {
  const clock = virtualClock();
  const times = new BeatTimes();
  const expired: ExpiryCause[] = [];
  const renewed: number[] = [];
  const timer = new LeaseTimer({
    clock,
    times,
    leaseMs: LEASE_MS,
    beatMs: BEAT_MS,
    onExpired: (cause) => void expired.push(cause),
    onRenewed: (ms) => void renewed.push(ms),
  });
  const beat = (sentAt: number): void => {
    times.sending(sentAt);
    times.renewed({ sentAt, answeredAt: clock.monotonic() });
    timer.renewed();
  };
  beat(clock.monotonic());
  timer.start();
  return { clock, times, timer, expired, renewed, beat };
}
