import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { virtualClock } from "../../test/support/virtual-clock.ts";
import { Ticker } from "./ticker.ts";

function makeTicker(tick: () => Promise<number>) {
  const virtual = virtualClock();
  // A wake-up sets its timer only after its tick.
  const clock = {
    ...virtual,
    async advance(ms: number): Promise<void> {
      await setImmediate();
      await virtual.advance(ms);
    },
  };
  const failures: unknown[] = [];
  const failed = (error: unknown): void => void failures.push(error);
  return { clock, failures, ticker: new Ticker({ clock, tick, failed, retryMs: 70 }) };
}

describe("a ticker", () => {
  test("does nothing before it is woken, then ticks when the last tick said", async () => {
    let ticks = 0;
    const { clock, ticker } = makeTicker(() => Promise.resolve((ticks += 1) * 100));
    await clock.advance(1_000);
    expect(ticks).toBe(0);

    ticker.wake();
    await clock.advance(99);
    expect(ticks).toBe(1);
    await clock.advance(1);
    expect(ticks).toBe(2);
    await clock.advance(199);
    expect(ticks).toBe(2);
  });

  test("never overlaps, and makes one more tick of all wake-ups during one", async () => {
    const gates: (() => void)[] = [];
    const { clock, ticker } = makeTicker(
      () => new Promise((resolve) => gates.push(() => resolve(1_000))),
    );
    ticker.wake();
    ticker.wake();
    ticker.wake();
    expect(gates).toHaveLength(1);

    gates[0]?.();
    await clock.advance(0);
    expect(gates).toHaveLength(2);
    gates[1]?.();
    await clock.advance(500);

    expect(gates).toHaveLength(2);
  });

  test("keeps a single timer, however often it is woken", async () => {
    let ticks = 0;
    const { clock, ticker } = makeTicker(() => Promise.resolve((ticks += 1) && 100));
    for (let round = 0; round < 5; round += 1) {
      ticker.wake();
      await clock.advance(0);
      await clock.advance(10);
    }
    expect(ticks).toBe(5);

    await clock.advance(90);

    expect(ticks).toBe(6);
  });

  test("reports a tick that throws and tries again", async () => {
    const error = new Error("no");
    let ticks = 0;
    const { clock, failures, ticker } = makeTicker(() => {
      ticks += 1;
      return ticks === 1 ? Promise.reject(error) : Promise.resolve(1_000);
    });

    ticker.wake();
    await clock.advance(1);
    await clock.advance(70);

    expect(failures).toEqual([error]);
    expect(ticks).toBe(2);
  });

  test("that is stopped waits for the tick under way and makes no other", async () => {
    let ticks = 0;
    const { promise, resolve } = Promise.withResolvers<number>();
    const { clock, ticker } = makeTicker(() => {
      ticks += 1;
      return promise;
    });
    ticker.wake();
    ticker.wake();
    let isStopped = false;

    const stopped = ticker.stop().then(() => (isStopped = true));
    await clock.advance(100);
    expect(isStopped).toBe(false);
    resolve(10);
    await stopped;
    ticker.wake();
    await clock.advance(1_000);

    expect(ticks).toBe(1);
  });
});
