import { describe, expect, test } from "vitest";
import { isFinal, mayMove, PRIORITIES, STATES, TRANSITIONS } from "./job.ts";

describe("a state", () => {
  test("is final exactly when no verb leads out of it (000-10, C-01)", () => {
    for (const state of STATES) {
      const isLeft = TRANSITIONS.some(({ from }) => from === state);
      expect([state, isFinal(state)]).toEqual([state, !isLeft]);
    }
  });

  test("can be reached from the beginning", () => {
    const reached = new Set(TRANSITIONS.map(({ to }) => to));
    expect([...reached].toSorted()).toEqual([...STATES].toSorted());
  });

  test("is entered only by a transition that is listed", () => {
    expect(mayMove(null, "queued")).toBe(true);
    expect(mayMove("queued", "running")).toBe(true);
    expect(mayMove("queued", "completed")).toBe(false);
    expect(mayMove("failed", "queued")).toBe(false);
  });
});

describe("the named priorities", () => {
  test("are 0, 50, 100 and 200, lower first (C-11)", () => {
    expect(PRIORITIES).toEqual({ critical: 0, high: 50, normal: 100, low: 200 });
  });
});
