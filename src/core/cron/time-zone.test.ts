import { expect, test } from "vitest";
import { isTimeZone, timeZone } from "./time-zone.ts";

test("a time zone is a name that Intl knows", () => {
  expect(isTimeZone("Europe/Berlin")).toBe(true);
  expect(isTimeZone("UTC")).toBe(true);
  expect(isTimeZone("Europe/Atlantis")).toBe(false);
  expect(isTimeZone("+01:00")).toBe(false);
  expect(isTimeZone(1)).toBe(false);
});

test("a change of the clocks is found to the second", () => {
  const berlin = timeZone("Europe/Berlin");
  const change = Date.UTC(2026, 9, 25, 1);

  expect(berlin.changeAfter(change - 3_600_123)).toBe(change);
  expect(berlin.changeAfter(change - 1)).toBe(change);
  expect(berlin.changeAfter(change)).toBeNull();
  expect([berlin.offsetAt(change - 1), berlin.offsetAt(change)]).toEqual([7_200_000, 3_600_000]);
});
