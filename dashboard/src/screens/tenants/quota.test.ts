import { describe, expect, it } from "vitest";
import { formOf, quotaOf, quotaWords } from "./quota.ts";

const EMPTY = formOf(null);

describe("quotaOf", () => {
  it("reads every limit", () => {
    const form = {
      waiting: "10,000",
      limit: "60",
      perMs: "60000",
      burst: "5",
      payloadBytes: "65536",
    };
    expect(quotaOf(form)).toEqual({
      rule: { waiting: 10_000, rate: { limit: 60, perMs: 60_000, burst: 5 }, payloadBytes: 65_536 },
    });
  });

  it("leaves out what is empty", () => {
    expect(quotaOf({ ...EMPTY, limit: "60" })).toEqual({
      rule: { rate: { limit: 60, perMs: 60_000 } },
    });
  });

  it("refuses what is no whole number above 0", () => {
    for (const waiting of ["0", "-1", "1.5", "many", "99999999999999999999"]) {
      expect(quotaOf({ ...EMPTY, waiting })).toEqual({
        problem: `“${waiting}” is no whole number above 0.`,
      });
    }
  });

  it("refuses an empty form, and a burst alone", () => {
    expect(quotaOf(EMPTY)).toEqual({ problem: "Write at least one limit." });
    expect(quotaOf({ ...EMPTY, burst: "5" })).toEqual({
      problem: "A burst needs a number of jobs in a period.",
    });
  });

  it("reads back what it has written", () => {
    const quota = {
      tenant: "a",
      waiting: 5,
      rate: { limit: 2, perMs: 1_000, burst: 4 },
      payloadBytes: null,
    };
    const form = formOf({ ...quota, reason: "", setBy: null, setAt: "" });
    expect(quotaOf(form)).toEqual({ rule: { waiting: 5, rate: quota.rate } });
  });
});

describe("quotaWords", () => {
  it("says what is allowed", () => {
    const rate = { limit: 60, perMs: 60_000, burst: 60 };
    expect(quotaWords({ waiting: 1_000, rate, payloadBytes: 2_048 })).toEqual([
      "1,000 waiting",
      "60 per minute",
      "payloads up to 2.0 KB",
    ]);
    expect(
      quotaWords({
        waiting: null,
        rate: { limit: 1, perMs: 90_000, burst: 3 },
        payloadBytes: null,
      }),
    ).toEqual(["1 per 1 min 30 s, 3 at once"]);
  });
});
