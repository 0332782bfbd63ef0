import { expect, test } from "vitest";
import { DAY_MS, dayOf, shareNotClosed } from "./day.ts";

const NOW = Date.parse("2026-11-18T12:00:00Z");
const at = (share: number): string => new Date(NOW - DAY_MS + share * DAY_MS).toISOString();

test("a day without a change has the present state", () => {
  expect(dayOf([], "closed", NOW)).toEqual([{ state: "closed", from: 0, to: 1 }]);
});

test("changes split the day, in any order", () => {
  const changes = [
    { at: at(0.75), state: "closed" },
    { at: at(0.5), state: "open" },
  ] as const;
  const day = dayOf(changes, "closed", NOW);
  expect(day).toEqual([
    { state: "closed", from: 0, to: 0.5 },
    { state: "open", from: 0.5, to: 0.75 },
    { state: "closed", from: 0.75, to: 1 },
  ]);
  expect(shareNotClosed(day)).toBe(0.25);
});

test("a change before the day says how the day began", () => {
  expect(dayOf([{ at: at(-1), state: "open" }], "open", NOW)).toEqual([
    { state: "open", from: 0, to: 1 },
  ]);
});

test("without one, the day began with what leads to the first change", () => {
  expect(dayOf([{ at: at(0.5), state: "half_open" }], "half_open", NOW)[0]?.state).toBe("open");
});

test("what is older than the changes that were read is not known", () => {
  const day = dayOf([{ at: at(0.5), state: "closed" }], "closed", NOW, true);
  expect(day.map(({ state }) => state)).toEqual(["unknown", "closed"]);
  expect(shareNotClosed(day)).toBe(0);
});
