import { describe, expect, it } from "vitest";
import { isByCause, letterFilter, newestFirst } from "./filter.ts";

describe("isByCause", () => {
  it("groups open letters by cause", () => {
    expect(isByCause({})).toBe(true);
    expect(isByCause({ status: "pending_review", cause: "a", type: "t", tenant: "x" })).toBe(true);
  });

  it("lists by time what causes cannot be filtered by", () => {
    expect(isByCause({ by: "time" })).toBe(false);
    expect(isByCause({ category: "import" })).toBe(false);
    expect(isByCause({ assigned_to: "ines" })).toBe(false);
    expect(isByCause({ status: "discarded" })).toBe(false);
  });
});

describe("letterFilter", () => {
  it("takes what the API knows and leaves out the rest", () => {
    const query = { by: "time", status: "acknowledged", type: "email", tenant: "", cause: "a1" };
    expect(letterFilter(query)).toEqual({ status: "acknowledged", type: "email", cause: "a1" });
  });

  it("leaves out a status that does not exist", () => {
    expect(letterFilter({ status: "lost" })).toEqual({});
  });
});

it("orders letters of one moment by their ids", () => {
  const [early, late] = ["2026-11-18T12:00:00.000Z", "2026-11-18T12:00:01.000Z"];
  const letters = [
    { id: "B", diedAt: early },
    { id: "A", diedAt: late },
    { id: "C", diedAt: early },
  ];
  expect(letters.toSorted(newestFirst).map(({ id }) => id)).toEqual(["A", "C", "B"]);
});
