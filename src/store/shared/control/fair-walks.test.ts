import { describe, expect, test } from "vitest";
import { FairWalks } from "./fair-walks.ts";

const PLACE = { priority: 500, rank: 1_000, key: 7 };

describe("walks through fair lanes", () => {
  test("share the jobs of a call, without those that have reached the end", () => {
    const walks = new FairWalks();
    walks.begin(["a", "b"], 100);
    expect(walks.share).toBe(400);
    walks.stop("a", PLACE);
    walks.stop("b", null);
    walks.begin(["a", "b"], 100);
    expect(walks.share).toBe(800);
    expect(walks.placeOf("a")).toEqual(PLACE);
    expect([walks.hasEnded("a"), walks.hasEnded("b")]).toEqual([false, true]);
  });

  test("begin again when all have reached the end", () => {
    const walks = new FairWalks();
    walks.begin(["a", "b"], 100);
    walks.stop("a", null);
    walks.stop("b", null);
    walks.begin(["a", "b"], 100);
    expect(walks.hasEnded("a")).toBe(false);
    expect(walks.placeOf("a")).toBeUndefined();
  });

  test("of lanes without jobs are forgotten", () => {
    const walks = new FairWalks();
    walks.begin(["a", "b"], 100);
    walks.stop("a", PLACE);
    walks.begin(["b"], 100);
    walks.begin(["a", "b"], 100);
    expect(walks.placeOf("a")).toBeUndefined();
  });
});
