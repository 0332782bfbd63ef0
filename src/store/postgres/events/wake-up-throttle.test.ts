import { describe, expect, test } from "vitest";
import { virtualClock, type VirtualClock } from "../../../../test/support/virtual-clock.ts";
import type { WakeUp } from "../../store.ts";
import { WakeUpThrottle } from "./wake-up-throttle.ts";

interface Passed {
  readonly wakeUp: WakeUp;
  readonly at: number;
}

function openThrottle(): { clock: VirtualClock; throttle: WakeUpThrottle; passed: Passed[] } {
  const clock = virtualClock(0);
  const passed: Passed[] = [];
  const passOn = (wakeUp: WakeUp): void => void passed.push({ wakeUp, at: clock.now() });
  return { clock, throttle: new WakeUpThrottle(clock, passOn), passed };
}

describe("a throttle of wake-ups", () => {
  test("passes the first wake-up on at once", () => {
    const { throttle, passed } = openThrottle();

    throttle.add("ready");

    expect(passed).toEqual([{ wakeUp: "ready", at: 0 }]);
  });

  test("passes on at most 20 of 1,000 wake-ups in a second, and always the last", async () => {
    const { clock, throttle, passed } = openThrottle();

    for (let count = 0; count < 1_000; count += 1) {
      throttle.add("ready");
      await clock.advance(1);
    }
    const inTheSecond = passed.length;
    throttle.add("ready");
    const addedAt = clock.now();
    await clock.advance(60);

    expect(inTheSecond).toBeLessThanOrEqual(20);
    expect(passed.at(-1)?.at).toBeGreaterThanOrEqual(addedAt);
  });

  test("does not delay a trickle", async () => {
    const { clock, throttle, passed } = openThrottle();
    const addedAt: number[] = [];

    for (let count = 0; count < 20; count += 1) {
      addedAt.push(clock.now());
      throttle.add("ready");
      await clock.advance(25);
    }

    expect(passed.map(({ at }) => at)).toEqual(addedAt);
  });

  test("does not delay a trickle that follows a flood without a pause", async () => {
    const { clock, throttle, passed } = openThrottle();
    for (let count = 0; count < 500; count += 1) {
      throttle.add("ready");
      await clock.advance(1);
    }
    const trickle = async (count: number): Promise<number[]> => {
      const addedAt: number[] = [];
      for (; addedAt.length < count; await clock.advance(25)) {
        addedAt.push(clock.now());
        throttle.add("ready");
      }
      return addedAt;
    };
    // The last pauses of the flood.
    await trickle(6);
    passed.length = 0;

    const addedAt = await trickle(20);

    expect(passed.map(({ at }) => at)).toEqual(addedAt);
  });

  test("merges wake-ups of a pause into the one that includes the others", async () => {
    const { clock, throttle, passed } = openThrottle();

    for (const wakeUp of ["ready", "ready", "work", "ready"] as const) throttle.add(wakeUp);
    await clock.advance(1_000);

    expect(passed.map(({ wakeUp }) => wakeUp)).toEqual(["ready", "work"]);
  });

  test.each([
    [["ready:fast", "ready:fast"], "ready:fast"],
    [["ready:fast", "ready:mail"], "ready"],
    [["ready:fast", "ready"], "ready"],
    [["ready:fast", "work", "ready:mail"], "work"],
  ] as const)("merges %j into %s", async (wakeUps, merged) => {
    const { clock, throttle, passed } = openThrottle();

    for (const wakeUp of ["ready", ...wakeUps] as const) throttle.add(wakeUp);
    await clock.advance(1_000);

    expect(passed.map(({ wakeUp }) => wakeUp)).toEqual(["ready", merged]);
  });

  test("delays neither final jobs nor new work because of other events", () => {
    const { throttle, passed } = openThrottle();

    for (const wakeUp of ["events", "events", "final", "ready"] as const) throttle.add(wakeUp);

    expect(passed.map(({ wakeUp }) => wakeUp)).toEqual(["events", "final", "ready"]);
  });

  test("gives a turn to a statement, which begins the pause", async () => {
    const { clock, throttle, passed } = openThrottle();

    const turns = [throttle.takeTurn("ready"), throttle.takeTurn("ready")];
    throttle.add("ready");
    await clock.advance(1_000);

    expect(turns).toEqual([true, false]);
    expect(passed).toHaveLength(1);
    expect(throttle.takeTurn("ready")).toBe(true);
  });

  test("passes on what waits when it is closed", async () => {
    const { throttle, passed } = openThrottle();
    throttle.add("ready");
    throttle.add("work");

    await throttle.close();

    expect(passed.map(({ wakeUp }) => wakeUp)).toEqual(["ready", "work"]);
  });
});
