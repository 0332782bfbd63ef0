import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { claimPlan, GENERAL_LANE, takesLane } from "./lanes.ts";
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
const anyBatch = fc.integer({ min: 1, max: 20 });

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
    expect(claimPlan([general, fast], { batchMax: 20 })).toEqual([
      { lane: "fast", lanes: ["fast"], limit: 3 },
      { lane: "general", lanes: "any", limit: 5 },
    ]);
  });

  test("asks for no more than the free slots", () => {
    const busy = [
      { ...fast, running: 3 },
      { ...general, running: 3 },
    ];

    expect(claimPlan(busy, { batchMax: 20 })).toEqual([
      { lane: "general", lanes: "any", limit: 2 },
    ]);
  });

  test("asks for no more than a batch", () => {
    expect(claimPlan([general], { batchMax: 2 })).toEqual([
      { lane: "general", lanes: "any", limit: 2 },
    ]);
  });

  test("asks for nothing when all slots are taken", () => {
    expect(claimPlan([{ ...fast, running: 4 }], { batchMax: 20 })).toEqual([]);
  });

  test("never exceeds the free slots of a lane, and wastes none", () => {
    fc.assert(
      fc.property(anyLanes, anyBatch, (lanes, batchMax) => {
        const plan = claimPlan(lanes, { batchMax });

        for (const { lane, slots, running } of lanes) {
          const limits = plan.filter((claim) => claim.lane === lane).map(({ limit }) => limit);
          const free = Math.min(Math.max(0, slots - running), batchMax);
          expect(limits).toEqual(free === 0 ? [] : [free]);
        }
      }),
    );
  });

  test("never lets another lane's job into reserved slots, however long the queue (004-01)", () => {
    fc.assert(
      fc.property(anyLanes, anyBatch, (lanes, batchMax) => {
        const reserved = claimPlan(lanes, { batchMax }).filter(({ lane }) => lane !== GENERAL_LANE);

        expect(reserved.map(({ lanes: from }) => from)).toEqual(reserved.map(({ lane }) => [lane]));
      }),
    );
  });
});
