/** The store answers late that it has marked jobs as started. */
import { describe, expect, test } from "vitest";
import { openLateStore } from "../late-store.ts";
import { withMarked } from "./marked-scene.ts";

describe("a mark that the store answers late", () => {
  test.each([
    { fate: "taken", ran: [0, 1, 2, 3, 4] },
    { fate: "cancelled", ran: [0, 1, 2, 3, 5] },
  ])(
    "leaves its slot to a claim that is under way, unless the job was $fate",
    async ({ fate, ran }) => {
      await using kit = await openLateStore();
      const scene = await withMarked(kit, { slots: 2, long: 5 });
      const overdue = scene.waiting[1]!;
      const marked = kit.holdAnswers("startPrefetched");
      scene.endOne(1);
      // The last prefetched job is being marked. The job that has waited too long goes back.
      await kit.advance("3s");
      expect(await kit.outcomes(overdue)).toEqual(["interrupted"]);
      const claimed = kit.holdAnswers("claim");
      if (fate === "cancelled") await kit.mill.jobs.cancel(overdue.id);
      scene.endOne(2);
      await kit.settled();

      marked.open();
      await kit.settled();
      claimed.open();
      await kit.settled();

      expect(scene.ran).toEqual(ran);
      expect(scene.busiest()).toBe(2);
      scene.end.open();
    },
  );
});
