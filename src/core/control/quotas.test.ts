import { describe, expect, test } from "vitest";
import {
  chunkOf,
  payloadExcess,
  rateExcess,
  takeTokens,
  TokenPurse,
  WaitingBook,
} from "./quotas.ts";

const RATE = { count: 10, perMs: 1_000, burst: 40 };

describe("WaitingBook", () => {
  test("counts at first, after a second, and when a tenth of the room is used", () => {
    const book = new WaitingBook();
    expect(book.needsCount("acme", 1, 0)).toBe(true);
    expect(book.used("acme")).toBe(0);
    count(book, 20, { now: 0 });
    expect(book.used("acme")).toBe(20);
    expect(book.needsCount("acme", 8, 0)).toBe(false);
    expect(book.needsCount("acme", 9, 0)).toBe(true);
    expect(book.needsCount("acme", 1, 1_000)).toBe(true);
    expect(book.needsCount("acme", 1, -1)).toBe(true);

    book.admit("acme", 8, false);

    expect(book.used("acme")).toBe(28);
    expect(book.needsCount("acme", 1, 0)).toBe(true);
    expect(book.needsCount("umbra", 1, 0)).toBe(true);
  });

  test("without room, each job needs a count", () => {
    const book = new WaitingBook();
    count(book, 100, { now: 0 });
    expect(book.needsCount("acme", 1, 0)).toBe(true);
  });

  test("a slow count has a rest of 20 times its time, if there is room for few jobs", () => {
    const book = new WaitingBook();
    count(book, 95, { now: 0, tookMs: 100 });
    expect(book.needsCount("acme", 1, 1_999)).toBe(false);
    expect(book.needsCount("acme", 2, 1_999)).toBe(false);
    expect(book.needsCount("acme", 2, 2_000)).toBe(true);
    count(book, 90, { now: 0, tookMs: 100 });
    expect(book.needsCount("acme", 1, 1_999)).toBe(false);
    expect(book.needsCount("acme", 2, 0)).toBe(true);
  });

  test("a new count admits all that fit, an older one what is granted", () => {
    const book = new WaitingBook();
    expect(book.room("acme", 100, false)).toBe(0);
    count(book, 80, { now: 0 });
    expect([book.room("acme", 100, true), book.room("acme", 100, false)]).toEqual([20, 2]);
    book.admit("acme", 5, false);
    expect([book.room("acme", 100, true), book.room("acme", 100, false)]).toEqual([15, 0]);
    expect(book.room("acme", 10, true)).toBe(0);
  });

  test("jobs under way are added to a count, whether the count has seen them or not", () => {
    const book = new WaitingBook();
    book.admit("acme", 3, true);
    book.landed("acme", true);
    const begun = book.beginCount("acme");
    book.admit("acme", 1, true);
    book.counted("acme", 5, 100, { begun, now: 0, tookMs: 0 });
    expect(book.used("acme")).toBe(8);
    book.landed("acme", false);
    expect(book.used("acme")).toBe(7);
    book.landed("acme", true);
    book.landed("acme", true);
    expect(book.used("acme")).toBe(7);
    count(book, 6, { now: 1 });
    expect(book.used("acme")).toBe(6);
  });

  test("forgets the tenant whose count is the oldest", () => {
    const book = new WaitingBook();
    for (let n = 0; n <= 10_000; n += 1) {
      book.counted(`t${n}`, 1, 10, { begun: 0, now: 0, tookMs: 0 });
    }
    expect([book.used("t0"), book.used("t1"), book.used("t10000")]).toEqual([0, 1, 1]);
    book.landed("t0", false);
    expect(book.used("t0")).toBe(0);
  });
});

describe("TokenPurse", () => {
  test("uses what the store has given, for a second", () => {
    const purse = new TokenPurse();
    expect(purse.use("acme", RATE, 1, 0)).toBe(0);
    purse.put("acme", RATE, 4, 0);
    expect(purse.use("acme", RATE, 3, 999)).toBe(3);
    purse.put("acme", RATE, 1, 999);
    expect(purse.use("acme", RATE, 9, 1_000)).toBe(2);
    purse.put("acme", RATE, 1, 1_000);
    expect(purse.use("acme", RATE, 1, 2_000)).toBe(0);
    expect(purse.use("acme", RATE, 1, 999)).toBe(0);
  });

  test.each([{ count: 11 }, { perMs: 999 }, { burst: 41 }])(
    "drops tokens of a rate before %j",
    (c) => {
      const purse = new TokenPurse();
      purse.put("acme", RATE, 4, 0);
      expect(purse.use("acme", { ...RATE, ...c }, 1, 0)).toBe(0);
    },
  );
});

test("a process takes a tenth of the burst at once, and at least a token", () => {
  expect(chunkOf(RATE)).toBe(4);
  expect(chunkOf({ ...RATE, burst: 3 })).toBe(1);
});

test("whole tokens are taken, and the rest stays", () => {
  const state = { ...RATE, tokens: 1.5, refilledAt: 0 };
  const { granted, left } = takeTokens(state, 9, 100);
  expect(granted).toBe(2);
  expect(left).toEqual({ ...RATE, tokens: 0.5, refilledAt: 100 });
  expect(takeTokens(state, 1, 100).granted).toBe(1);
  expect(rateExcess(left, 100)).toEqual({ quota: "rate", limit: 10, used: 40, retryAfterMs: 50 });
});

test("a payload is too long beyond its quota", () => {
  const quota = { waiting: null, rate: null, payloadBytes: 6 };
  expect(payloadExcess({ ...quota, payloadBytes: null }, 7)).toBeNull();
  expect(payloadExcess(quota, 6)).toBeNull();
  expect(payloadExcess(quota, 7)).toEqual({
    quota: "payloadBytes",
    limit: 6,
    used: 7,
    retryAfterMs: null,
  });
});

function count(book: WaitingBook, jobs: number, at: { now: number; tookMs?: number }): void {
  const begun = book.beginCount("acme");
  book.counted("acme", jobs, 100, { begun, tookMs: 0, ...at });
}
