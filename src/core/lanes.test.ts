import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { claimPlan, GENERAL_LANE, slotUse, takesLane } from "./lanes.ts";
import type { LaneSlots } from "./lanes.ts";

const fast: LaneSlots = { lane: "fast", slots: 3, running: 0 };
const general: LaneSlots = { lane: "general", slots: 5, running: 0 };

const anyLanes = fc.uniqueArray(
  fc.record({
    lane: fc.constantFrom("general", "fast", "bulk", "mail"),
    slots: fc.nat(10),
    running: fc.nat(12),
  }),
  { selector: ({ lane }) => lane },
);
describe("a worker", () => {
  test("takes jobs of its own lanes, and of any with slots in general (004-01)", () => {
    expect(takesLane(["fast", "mail"], "mail")).toBe(true);
    expect(takesLane(["fast", "mail"], "bulk")).toBe(false);
    expect(takesLane(["fast", "mail"], GENERAL_LANE)).toBe(false);
    expect(takesLane(["fast", GENERAL_LANE], "bulk")).toBe(true);
    expect(takesLane([], "bulk")).toBe(false);
  });
});

describe("a claim plan", () => {
  test("asks for fast jobs first, then for any (004-01)", () => {
    expect(claimPlan([general, fast])).toEqual([
      { lane: "fast", lanes: ["fast"] },
      { lane: "general", lanes: "any" },
    ]);
  });

  test("asks for exactly the lanes with a free slot, once each", () => {
    fc.assert(
      fc.property(anyLanes, (lanes) => {
        const free = lanes.filter(({ slots, running }) => slots > running);

        expect(claimPlan(lanes).map(({ lane }) => lane)).toHaveLength(free.length);
        expect(new Set(claimPlan(lanes).map(({ lane }) => lane))).toEqual(
          new Set(free.map(({ lane }) => lane)),
        );
      }),
    );
  });

  test("never lets another lane's job into reserved slots, however long the queue (004-01)", () => {
    fc.assert(
      fc.property(anyLanes, (lanes) => {
        const reserved = claimPlan(lanes).filter(({ lane }) => lane !== GENERAL_LANE);

        expect(reserved.map(({ lanes: from }) => from)).toEqual(reserved.map(({ lane }) => [lane]));
      }),
    );
  });
});

describe("the slots that a job may use", () => {
  const slots = { fast: 3, general: 2 };

  test.each([
    { lane: "general", running: {}, use: { slots: 2, used: 0 } },
    { lane: "fast", running: {}, use: { slots: 5, used: 0 } },
    { lane: "general", running: { general: 2 }, use: { slots: 2, used: 2 } },
    { lane: "fast", running: { general: 2 }, use: { slots: 5, used: 2 } },
    { lane: "general", running: { fast: 3 }, use: { slots: 2, used: 0 } },
    { lane: "general", running: { fast: 4, bulk: 1 }, use: { slots: 2, used: 2 } },
    { lane: "bulk", running: { fast: 4, bulk: 1 }, use: { slots: 2, used: 2 } },
    { lane: "fast", running: { fast: 4, bulk: 1 }, use: { slots: 5, used: 5 } },
  ])("$lane beside $running", ({ lane, running, use }) => {
    expect(slotUse(lane, slots, running)).toEqual(use);
  });

  test.each(["constructor", "toString", "__proto__"])("count the lane %s from 0", (lane) => {
    const one = Object.fromEntries([[lane, 1]]);

    expect(slotUse(lane, { general: 1 }, {})).toEqual({ slots: 1, used: 0 });
    expect(slotUse(lane, { general: 1 }, one)).toEqual({ slots: 1, used: 1 });
    expect(slotUse(lane, one, one)).toEqual({ slots: 1, used: 1 });
  });

  test("are those of its own lane where a worker has no general slots", () => {
    expect(slotUse("fast", { fast: 3 }, { fast: 9 })).toEqual({ slots: 3, used: 3 });
    expect(slotUse("fast", { bulk: 3 }, { bulk: 2 })).toEqual({ slots: 0, used: 0 });
  });

  test("are never used by more jobs than there are slots", () => {
    const byLane = fc.dictionary(fc.constantFrom("general", "fast", "bulk"), fc.nat(12));
    fc.assert(
      fc.property(byLane, byLane, (of, running) => {
        const { slots: all, used } = slotUse("fast", of, running);

        expect(used).toBeGreaterThanOrEqual(0);
        expect(used).toBeLessThanOrEqual(all);
      }),
    );
  });
});
