import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest, unchecked } from "../support.ts";

const echo = defineJob({ type: "echo", payload: typed<string>() });

describe("jobs.count", () => {
  test("counts the jobs of a filter up to a maximum, and says that there are more", async () => {
    await using kit = await openTest();
    await kit.mill.enqueueMany([echo.of("a"), echo.of("b"), echo.of("c", { delay: "1h" })]);

    expect(await kit.mill.jobs.count()).toEqual({ count: 3, atLeast: false });
    expect(await kit.mill.jobs.count({ state: "queued" })).toEqual({ count: 2, atLeast: false });
    expect(await kit.mill.jobs.count({ state: "pending" }, { max: 3 })).toEqual({
      count: 3,
      atLeast: false,
    });
    expect(await kit.mill.jobs.count({ type: "echo" }, { max: 2 })).toEqual({
      count: 2,
      atLeast: true,
    });
    expect(await kit.mill.jobs.count({ tenant: "unknown" })).toEqual({ count: 0, atLeast: false });
  });

  test.each([
    ["a filter that it does not have", [{ limit: 3 }], /jobs.count: limit is unknown/],
    ["a misspelled filter", [{ stat: "failed" }], /did you mean state/],
    ["an unknown state", [{ state: "dead" }], /state must be/],
    ["a maximum of nothing", [{}, { max: 0 }], /max must be a whole number of at least 1/],
    ["an option that it does not have", [{}, { most: 3 }], /jobs.count: most/],
  ])("refuses %s", async (_, args, message) => {
    await using kit = await openTest();

    await expect(unchecked(kit.mill.jobs).count(...args)).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringMatching(message),
    });
  });
});
