import { describe, expect, test } from "vitest";
import { statusOf } from "../src/job-record.ts";

describe("a job in the words of this queue", () => {
  test.each([
    ["scheduled", "pending"],
    ["queued", "pending"],
    ["running", "active"],
    ["completed", "completed"],
    ["completed_with_errors", "completed"],
    ["failed", "failed"],
    ["cancelled", "cancelled"],
  ] as const)("that is %s is %s, and stale when retention says so (001-44, C-02)", (...row) => {
    const [state, status] = row;

    expect(statusOf(state, false)).toBe(status);
    expect(statusOf(state, true)).toBe("stale");
  });
});
