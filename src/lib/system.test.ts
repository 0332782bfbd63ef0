import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { systemClock } from "./system.ts";

describe("the host's clock", () => {
  test("does not fire at once for a wait beyond what Node's timers hold", async () => {
    let fired = false;

    const cancel = systemClock.after(2 ** 31 + 1_000, () => {
      fired = true;
    });
    await sleep(20);
    cancel();

    expect(fired).toBe(false);
  });

  test("fires once, and not when it was called off", async () => {
    const fired: string[] = [];

    systemClock.after(5, () => fired.push("first"));
    systemClock.after(5, () => fired.push("second"))();
    await sleep(40);

    expect(fired).toEqual(["first"]);
  });
});
