import { describe, expect, test } from "vitest";
import { wait } from "./clock.ts";

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
