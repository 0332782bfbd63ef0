import { describe, expect, test } from "vitest";
import { wait, within } from "./clock.ts";

describe("wait", () => {
  test("resolves when its clock says so, and not before", async () => {
    const timers: { ms: number; wake: () => void }[] = [];
    const clock = {
      after(ms: number, wake: () => void) {
        timers.push({ ms, wake });
        return () => {};
      },
    };
    const waiting = wait(clock, 250);

    expect(timers.map(({ ms }) => ms)).toEqual([250]);
    expect(await Promise.race([waiting, Promise.resolve("still waiting")])).toBe("still waiting");
    timers[0]?.wake();
    expect(await waiting).toBeUndefined();
  });
});

describe("within", () => {
  test("resolves with the promise and leaves no timer behind", async () => {
    const timers = new Set<() => void>();

    await within(fakeClock(timers), 1_000, Promise.resolve("done"));

    expect(timers.size).toBe(0);
  });

  test("resolves when the time is up", async () => {
    const timers = new Set<() => void>();

    const waiting = within(fakeClock(timers), 1_000, new Promise(() => {}));
    for (const wake of timers) wake();

    expect(await waiting).toBeUndefined();
  });

  test("rejects with the promise and leaves no timer behind", async () => {
    const timers = new Set<() => void>();

    const waiting = within(fakeClock(timers), 1_000, Promise.reject(new Error("broken")));

    await expect(waiting).rejects.toThrow("broken");
    expect(timers.size).toBe(0);
  });
});

function fakeClock(timers: Set<() => void>) {
  return {
    after(_ms: number, wake: () => void) {
      timers.add(wake);
      return () => void timers.delete(wake);
    },
  };
}
