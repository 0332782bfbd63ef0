import { describe, expect, test } from "vitest";
import { MillraceError } from "../core/errors.ts";
import { defineJob, typed } from "./define.ts";
import { schedule } from "./schedule.ts";
import type { Timing } from "./schedule.ts";

const cleanup = defineJob({ type: "cleanup" }).run(() => {});

describe("a schedule", () => {
  test("keeps name, time, job and payload, and cannot be changed", () => {
    const report = defineJob({ type: "report", payload: typed<{ month: number }>() });
    const when = { cron: "0 3 * * *", timeZone: "Europe/Berlin", missed: "once" } as const;

    const monthly = schedule("monthly", when, report, { month: 1 }, { tenant: "acme" });

    expect(monthly).toEqual({
      name: "monthly",
      when,
      contract: report,
      payload: { month: 1 },
      options: { tenant: "acme" },
    });
    expect(Object.isFrozen(monthly)).toBe(true);
  });

  test("keeps its time when the caller's object changes afterwards", () => {
    const when = { cron: "0 3 * * *", missed: { all: 3 } };
    const nightly = schedule("nightly", when, cleanup);

    when.cron = "0 4 * * *";
    when.missed.all = 9;

    expect(nightly.when).toEqual({ cron: "0 3 * * *", missed: { all: 3 } });
    expect(Object.isFrozen(nightly.when) && Object.isFrozen(nightly.when.missed)).toBe(true);
  });

  test("refuses a transaction, for none is open when it makes its jobs", () => {
    const tx = { query: async () => ({ rows: [] }) };
    expect(() => schedule("nightly", { cron: "@daily" }, cleanup, undefined, { tx })).toThrow(
      'schedule "nightly": options.tx must be omitted',
    );
  });

  test.each([{ runAt: 0 }, { delay: 1 }, { after: [] }, { idempotencyKey: "once" }])(
    "refuses %j, which would be the same for the job of every tick",
    (options) => {
      const declare = () => schedule("nightly", { cron: "@daily" }, cleanup, undefined, options);
      expect(declare).toThrow(`options.${Object.keys(options)[0]} must be omitted`);
    },
  );

  test.each([
    [{ priority: 1_000_000_001 }, "options.priority must be a whole number from 0 to"],
    [{ maxAttempts: 0 }, "options.maxAttempts must be a whole number from 1 to"],
  ])("refuses the options %j, which no job could have", (options, message) => {
    const error = errorOf(() =>
      schedule("nightly", { cron: "@daily" }, cleanup, undefined, options),
    );

    expect(error.code).toBe("DEFINITION_INVALID");
    expect(error.message).toContain(`schedule "nightly": ${message}`);
  });

  test.each<Timing>([
    { cron: "* * * * *", missed: "skip", overlap: "skip" },
    { cron: "@daily", missed: { all: 1 }, overlap: "queue" },
    { cron: "* * * * *", jitter: "59s", overlap: "replace" },
    { cron: "* * * * *", jitter: "1h", overlap: "skip" },
    { cron: "0 3 * * *", overlap: "replace" },
    { cron: "*/10 * * * * *", jitter: "5m", start: new Date(0), end: "2030-01-01T00:00:00Z" },
    { cron: "@daily", jitter: "1d", start: "2030-01-01T00:00+01:00", end: 1_893_452_400_000 },
  ])("takes %j", (when) => {
    expect(schedule("nightly", when, cleanup).when).toEqual(when);
  });

  test.each<[when: unknown, message: string]>([
    ["0 3 * * *", 'when must be an object such as { cron: "0 3 * * *" }, not "0 3 * * *"'],
    [{}, 'when.cron must be a cron expression such as "0 3 * * *", not undefined'],
    [{ cron: "  " }, 'when.cron must be a cron expression such as "0 3 * * *", not "  "'],
    [
      { cron: "@daily", missed: "twice" },
      'when.missed must be "skip", "once" or an object such as { all: 10 }, not "twice"',
    ],
    [
      { cron: "@daily", missed: { all: 0 } },
      "when.missed.all must be a whole number from 1 to 1,000, not 0",
    ],
    [
      { cron: "@daily", overlap: "merge" },
      'when.overlap must be "skip", "queue" or "replace", not "merge"',
    ],
    [
      { cron: "@daily", timeZone: 1 },
      'when.timeZone must be an IANA time zone such as "Europe/Berlin", not 1',
    ],
    [
      { cron: "@daily", timeZone: "Europe/Atlantis" },
      'when.timeZone must be an IANA time zone such as "Europe/Berlin", not "Europe/Atlantis"',
    ],
    [
      { cron: "61 * * * *" },
      'when.cron must be a cron expression such as "0 3 * * *", not "61 * * * *": ' +
        'the minute "61" is not from 0 to 59',
    ],
    [
      { cron: "every night" },
      'when.cron must be a cron expression such as "0 3 * * *", not "every night": ' +
        "it has 2 field(s), not minute, hour, day, month and day of the week",
    ],
    [
      { cron: "@daily", jitter: "soon" },
      'when.jitter must be a duration such as "5m", at most a day, not "soon"',
    ],
    [
      { cron: "@daily", jitter: "25h" },
      'when.jitter must be a duration such as "5m", at most a day, not "25h"',
    ],
    [
      { cron: "@daily", timeZone: "+01:00" },
      'when.timeZone must be an IANA time zone such as "Europe/Berlin", not "+01:00"',
    ],
    [
      { cron: "@daily", start: "2030-01-01" },
      "when.start must be a Date, milliseconds since 1970, or ISO text with an offset, " +
        'not "2030-01-01"',
    ],
    [
      { cron: "* * * * *", jitter: "1h", overlap: "replace" },
      "when.jitter must be shorter than the time between two ticks, 60 s: " +
        'with overlap "replace", the next tick would cancel the job before it is due',
    ],
    [{ cron: "@daily", start: 2, end: 1 }, "when.end must not be before the start"],
    [
      { cron: "@daily", end: "tomorrow" },
      "when.end must be a Date, milliseconds since 1970, or ISO text with an offset, " +
        'not "tomorrow"',
    ],
    [{ cron: "@daily", timezone: "UTC" }, "when.timezone is unknown; did you mean timeZone?"],
  ])("refuses %j", (when, message) => {
    const error = errorOf(() => schedule("nightly", untyped(when), cleanup));

    expect(error.code).toBe("DEFINITION_INVALID");
    expect(error.message).toBe(`schedule "nightly": ${message}`);
  });

  test("refuses a name that cannot be shown", () => {
    expect(errorOf(() => schedule("", { cron: "@daily" }, cleanup)).message).toBe(
      "schedule: name must be a text of 1 to 200 characters without control characters, " +
        'and not . or .., not ""',
    );
  });

  test("refuses a job that was not made with defineJob", () => {
    expect(errorOf(() => schedule("nightly", { cron: "@daily" }, untyped("cleanup"))).message).toBe(
      'schedule "nightly": the job must be made with defineJob, not "cleanup"',
    );
  });
});

/** What JavaScript, or a cast, may pass. */
function untyped(value: unknown): never {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- That is the point.
  return value as never;
}

function errorOf(call: () => unknown): MillraceError {
  try {
    call();
  } catch (error) {
    if (error instanceof MillraceError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
