import { describe, expect, test } from "vitest";
import { START, earlier, later, pageOf, type Scan } from "./finish-order.ts";
import type { FinishPosition } from "../types/records.ts";

function place(at: number, key = at): FinishPosition {
  return { at, key };
}

function found(...jobs: readonly FinishPosition[]): Scan {
  return { jobs, stoppedAt: null };
}

describe("the order of ends", () => {
  test("goes by the instant, then by the key", () => {
    expect(earlier(place(1, 9), place(2, 1))).toEqual(place(1, 9));
    expect(later(place(2, 3), place(2, 1))).toEqual(place(2, 3));
  });

  test("gives the right one of two that are the same", () => {
    const same = { ...START };
    expect(earlier(START, same)).toBe(same);
    expect(later(START, same)).toBe(same);
  });
});

describe("a page of several looks", () => {
  test("has the first of all of them, and goes on behind the last of those", () => {
    const looks = [found(place(1), place(4)), found(place(2), place(3))];

    expect(pageOf(looks, 3)).toEqual({ keys: [1, 2, 3], next: place(3) });
  });

  test("is the last when nothing is left", () => {
    expect(pageOf([found(place(2)), found(place(1))], 3)).toEqual({ keys: [1, 2], next: null });
    expect(pageOf([found(), found()], 3)).toEqual({ keys: [], next: null });
  });

  test("goes no further than the look that has stopped first", () => {
    const looks = [
      { jobs: [place(1)], stoppedAt: place(5) },
      { jobs: [place(5), place(6)], stoppedAt: place(8) },
      found(place(4), place(9)),
    ];

    expect(pageOf(looks, 100)).toEqual({ keys: [1, 4, 5], next: place(5) });
  });

  test("may be empty in the middle", () => {
    expect(pageOf([{ jobs: [], stoppedAt: place(5) }, found(place(6))], 9)).toEqual({
      keys: [],
      next: place(5),
    });
  });
});
