import { expect, test } from "vitest";
import { chunkSize, itemsPerSecond, statesFor } from "./bulk.ts";

test("a rate is a number per second, or a count per second, minute or hour", () => {
  expect(itemsPerSecond(500)).toBe(500);
  expect(itemsPerSecond("500/s")).toBe(500);
  expect(itemsPerSecond("30/m")).toBe(0.5);
  expect(itemsPerSecond("36/h")).toBe(0.01);
});

test("any other rate is none", () => {
  for (const rate of ["", "500", "5/d", "0/s", "-5/s", "200000/s", 0, -1, Number.NaN, 100_001]) {
    expect(itemsPerSecond(rate)).toBeNull();
  }
});

test("a chunk has at most what the rate allows in one second, and at least one item", () => {
  expect(chunkSize(100, 1_000)).toBe(100);
  expect(chunkSize(100, 20)).toBe(20);
  expect(chunkSize(100, 0.1)).toBe(1);
});

test("an action is for the states in which it changes a job", () => {
  expect(statesFor("cancel", undefined)).toEqual(["scheduled", "queued", "running"]);
  expect(statesFor("priority", ["queued", "running"])).toEqual(["queued"]);
  expect(statesFor("reschedule", undefined)).toEqual(["scheduled", "queued"]);
  expect(statesFor("delete", ["queued"])).toEqual([]);
});

test("a retry repeats completed jobs only if the filter names their state", () => {
  expect(statesFor("retry", undefined)).not.toContain("completed");
  expect(statesFor("retry", undefined)).toContain("failed");
  expect(statesFor("retry", ["completed", "running"])).toEqual(["completed"]);
});
