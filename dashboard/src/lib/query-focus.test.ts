import { beforeEach, describe, expect, test } from "vitest";
import { awaitQueryBar, isForQueryBar, takeQueryFocus } from "./query-focus.ts";

function press(keys: readonly string[], timeStamp = 1_100): readonly boolean[] {
  const modifiers = { ctrlKey: false, metaKey: false, altKey: false, isComposing: false };
  return keys.map((key) => isForQueryBar({ key, timeStamp, ...modifiers }));
}

beforeEach(() => {
  takeQueryFocus();
});

describe("letters before the query bar is there", () => {
  test("are kept for it, and given once", () => {
    awaitQueryBar(1_000);

    expect(press(["r", "t", "t", "Backspace", "Shift"])).toEqual([true, true, true, true, false]);

    expect(takeQueryFocus()).toBe("rt");
    expect(takeQueryFocus()).toBeNull();
  });

  test("are for the page when no bar is awaited", () => {
    expect(press(["r"])).toEqual([false]);
    expect(takeQueryFocus()).toBeNull();
  });

  test("are for the page again after Escape, and after some seconds", () => {
    awaitQueryBar(1_000);
    expect(press(["Escape", "r"])).toEqual([false, false]);

    awaitQueryBar(1_000);
    expect(press(["r"], 7_000)).toEqual([false]);
  });
});
