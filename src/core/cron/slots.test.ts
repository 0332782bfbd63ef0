import { Cron } from "croner";
import { describe, expect, test } from "vitest";
import { slotsOf } from "./slots.ts";

const BERLIN = "Europe/Berlin";

describe("the slots of a cron expression (000-54)", () => {
  test.each([
    ["0 3 * * *", BERLIN, "2026-01-01T02:00:00Z", ["2026-01-02T02:00:00Z"]],
    ["0 3 * * *", "UTC", "2026-01-01T02:59:59.999Z", ["2026-01-01T03:00:00Z"]],
    ["*/20 * * * * *", "UTC", "2026-01-01T00:00:15Z", ["2026-01-01T00:00:20Z"]],
    ["0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", ["2028-02-29T00:00:00Z"]],
    ["@weekly", "UTC", "2026-11-17T00:00:00Z", ["2026-11-22T00:00:00Z"]],
    // Either the day of the month or the day of the week.
    [
      "0 0 13 * fri",
      "UTC",
      "2026-11-01T00:00:00Z",
      ["2026-11-06T00:00:00Z", "2026-11-13T00:00:00Z"],
    ],
    ["0 0 * * 7", "UTC", "2026-11-17T00:00:00Z", ["2026-11-22T00:00:00Z"]],
  ])("of %j in %s after %s", (cron, timeZone, after, expected) => {
    expect(next({ cron, timeZone }, after, expected.length)).toEqual(expected);
  });

  test("end before the year 10,000", () => {
    for (const cron of ["0 0 1 1 *", "0 * 1 1 *"]) {
      expect(slotsOf({ cron, timeZone: "UTC" }).next(Date.UTC(9999, 5))).toBeNull();
    }
  });

  test("cannot be had of an expression that cannot be read", () => {
    expect(() => slotsOf({ cron: "61 * * * *", timeZone: "UTC" })).toThrow("is not from 0 to 59");
    expect(() => slotsOf({ cron: "@daily", timeZone: "Mars/Olympus" })).toThrow("Mars/Olympus");
  });
});

describe("the slots of an expression that was read before", () => {
  test("are ready for the next tick, for a bounded number of expressions", () => {
    const spec = { cron: "0 3 * * *", timeZone: BERLIN };
    const first = slotsOf(spec);

    expect(slotsOf({ ...spec })).toBe(first);
    expect(slotsOf({ ...spec, timeZone: "UTC" })).not.toBe(first);
    for (let minute = 0; minute < 1_000; minute += 1) {
      slotsOf({ cron: `${minute % 60} ${Math.floor(minute / 60)} * * *`, timeZone: "UTC" });
    }
    expect(slotsOf(spec)).not.toBe(first);
    expect(slotsOf(spec).next(Date.UTC(2026, 0, 1))).toBe(Date.UTC(2026, 0, 1, 2));
  });
});

describe("fixed hours on a day on which the clocks change (000-54)", () => {
  test("a local time in the gap is due once, at the first instant after the gap", () => {
    expect(next({ cron: "30 2 * * *", timeZone: BERLIN }, "2026-03-28T12:00:00Z", 2)).toEqual([
      "2026-03-29T01:00:00Z",
      "2026-03-30T00:30:00Z",
    ]);
  });

  test("local times that share the instant after the gap are one slot", () => {
    expect(next({ cron: "0,30 2,3 * * *", timeZone: BERLIN }, "2026-03-28T12:00:00Z", 3)).toEqual([
      "2026-03-29T01:00:00Z",
      "2026-03-29T01:30:00Z",
      "2026-03-30T00:00:00Z",
    ]);
  });

  test("midnight that the clocks skip is due at one o'clock", () => {
    const spec = { cron: "0 0 * * *", timeZone: "Africa/Cairo" };
    expect(next(spec, "2026-04-23T12:00:00Z", 2)).toEqual([
      "2026-04-23T22:00:00Z",
      "2026-04-24T21:00:00Z",
    ]);
  });

  test("a whole day that the calendar skips is due when the next day begins", () => {
    const spec = { cron: "0 12 * * *", timeZone: "Pacific/Apia" };
    expect(next(spec, "2011-12-29T00:00:00Z", 3)).toEqual([
      "2011-12-29T22:00:00Z",
      "2011-12-30T10:00:00Z",
      "2011-12-30T22:00:00Z",
    ]);
  });

  test("a local time that comes twice is due the first time", () => {
    const spec = { cron: "30 2 * * *", timeZone: BERLIN };
    expect(next(spec, "2026-10-24T12:00:00Z", 2)).toEqual([
      "2026-10-25T00:30:00Z",
      "2026-10-26T01:30:00Z",
    ]);
    // Asked within the repeated hour.
    expect(next(spec, "2026-10-25T01:10:00Z", 1)).toEqual(["2026-10-26T01:30:00Z"]);
  });
});

describe("hours with * on a day on which the clocks change (000-54)", () => {
  test("every 15 minutes leaves out the gap", () => {
    const spec = { cron: "*/15 * * * *", timeZone: BERLIN };
    expect(next(spec, "2026-03-29T00:40:00Z", 3)).toEqual([
      "2026-03-29T00:45:00Z",
      "2026-03-29T01:00:00Z",
      "2026-03-29T01:15:00Z",
    ]);
  });

  test("every 15 minutes is due in both of two equal hours", () => {
    const slots = next({ cron: "*/15 * * * *", timeZone: BERLIN }, "2026-10-24T23:50:00Z", 10);
    const expected = Array.from({ length: 10 }, (_, n) => iso(Date.UTC(2026, 9, 25) + n * 900_000));
    expect(slots).toEqual(expected);
  });

  test("a repeated half hour, and a rare expression far away", () => {
    expect(
      next({ cron: "45 * * * *", timeZone: "Australia/Lord_Howe" }, "2026-04-04T14:00:00Z", 3),
    ).toEqual(["2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z", "2026-04-04T16:15:00Z"]);
    expect(next({ cron: "0 * 1 1 *", timeZone: BERLIN }, "2026-03-28T12:00:00Z", 1)).toEqual([
      "2026-12-31T23:00:00Z",
    ]);
    expect(next({ cron: "0 * 1 1 *", timeZone: BERLIN }, "2026-10-24T12:00:00Z", 1)).toEqual([
      "2026-12-31T23:00:00Z",
    ]);
  });

  test("every hour of a day within which the clocks go back in the last year", () => {
    expect(
      slotsOf({ cron: "0 * 31 12 *", timeZone: BERLIN }).next(Date.UTC(9999, 11, 31, 23)),
    ).toBe(null);
  });
});

describe("the library croner, which finds the local times", () => {
  test("loses or delays fixed hours in a gap, so that instants are not left to the library", () => {
    const after = "2026-03-29T00:30:00Z";
    const ofLibrary = (cron: string) =>
      iso(Number(new Cron(cron, { timezone: BERLIN }).nextRun(new Date(after))));

    expect(ofLibrary("30 1,2 * * *")).toBe("2026-03-29T23:30:00Z");
    expect(next({ cron: "30 1,2 * * *", timeZone: BERLIN }, after, 1)).toEqual([
      "2026-03-29T01:00:00Z",
    ]);
    expect(ofLibrary("15 2-3 * * *")).toBe("2026-03-29T01:15:00Z");
    expect(next({ cron: "15 2-3 * * *", timeZone: BERLIN }, after, 2)).toEqual([
      "2026-03-29T01:00:00Z",
      "2026-03-29T01:15:00Z",
    ]);
  });
});

describe("ranges of slots", () => {
  const minutes = slotsOf({ cron: "* * * * *", timeZone: "UTC" });
  const MINUTE = 60_000;

  test("have at most `max` slots, from the beginning or from the end", () => {
    expect(minutes.between(0, 5 * MINUTE, 10)).toEqual([1, 2, 3, 4, 5].map((n) => n * MINUTE));
    expect(minutes.between(0, 5 * MINUTE, 2)).toEqual([MINUTE, 2 * MINUTE]);
    expect(minutes.latest(0, 5 * MINUTE, 10)).toHaveLength(5);
    expect(minutes.latest(0, 5 * MINUTE, 2)).toEqual([4 * MINUTE, 5 * MINUTE]);
    expect(minutes.latest(0, 5 * MINUTE, 0)).toEqual([]);
  });

  test("are found from the end without walking over five years of minutes", () => {
    const years = 5 * 365 * 86_400_000;
    expect(minutes.latest(0, years, 3)).toEqual([2, 1, 0].map((n) => years - n * MINUTE));
  });
});

function next(spec: { cron: string; timeZone: string }, after: string, count: number): string[] {
  return slotsOf(spec).between(Date.parse(after), Infinity, count).map(iso);
}

function iso(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}
