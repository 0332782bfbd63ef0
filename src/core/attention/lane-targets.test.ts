import { expect, test } from "vitest";
import { laneTargetMs } from "./lane-targets.ts";

test("a job of the lane fast may wait for two minutes, any other job for five", () => {
  expect(["fast", "general", "reports"].map(laneTargetMs)).toEqual([120_000, 300_000, 300_000]);
});
