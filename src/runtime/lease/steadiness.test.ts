import { describe, expect, test } from "vitest";
import { Steadiness } from "./steadiness.ts";

const LEASE_MS = 3_000;

describe("the span of steady renewals", () => {
  test("is absent before the first renewal", () => {
    expect(new Steadiness(LEASE_MS).span).toBeNull();
  });

  test("goes from the first answer to the last renewal that was sent", () => {
    const steadiness = new Steadiness(LEASE_MS);
    for (const sentAt of [0, 1_000, 2_000]) {
      steadiness.succeeded({ sentAt, answeredAt: sentAt + 10 });
    }
    expect(steadiness.span).toEqual({ from: 10, until: 2_000 });
  });

  test("ends with a failed renewal, and begins anew with the next one", () => {
    const steadiness = new Steadiness(LEASE_MS);
    steadiness.succeeded({ sentAt: 0, answeredAt: 10 });
    steadiness.failed();
    expect(steadiness.span).toBeNull();
    steadiness.succeeded({ sentAt: 1_000, answeredAt: 1_010 });
    expect(steadiness.span).toEqual({ from: 1_010, until: 1_010 });
  });

  test("begins anew after an answer that came half a lease after the one before", () => {
    const steadiness = new Steadiness(LEASE_MS);
    steadiness.succeeded({ sentAt: 0, answeredAt: 10 });
    // Sent in time: the renewal waited for the end of a write lock.
    steadiness.succeeded({ sentAt: 1_000, answeredAt: 5_000 });
    steadiness.succeeded({ sentAt: 6_000, answeredAt: 6_010 });
    expect(steadiness.span).toEqual({ from: 5_000, until: 6_000 });
  });
});
