import { describe, expect, test } from "vitest";
import { nextTokenMs, PermitBook, roomOf, tokensAt, type RateState } from "./permits.ts";

const RATE: RateState = { count: 10, perMs: 1_000, burst: 5, tokens: 0, refilledAt: 0 };
const NOW = { free: 0, prefetch: false, now: 0 };

describe("tokensAt", () => {
  test("refills with time up to the burst", () => {
    expect(tokensAt(RATE, 250)).toBe(2.5);
    expect(tokensAt(RATE, 60_000)).toBe(5);
  });

  test("loses no token when the clock goes back", () => {
    expect(tokensAt({ ...RATE, tokens: 2, refilledAt: 1_000 }, 500)).toBe(2);
  });

  test("is full if the clock went back by more than the time that fills it", () => {
    expect(tokensAt({ ...RATE, tokens: 2, refilledAt: 1_000 }, 499)).toBe(5);
    expect(tokensAt({ ...RATE, refilledAt: 3 * 3_600_000 }, 0)).toBe(5);
  });
});

describe("nextTokenMs", () => {
  test("is the time until one job may start", () => {
    expect(nextTokenMs(RATE, 0)).toBe(100);
    expect(nextTokenMs({ ...RATE, tokens: 0.5 }, 0)).toBe(50);
    expect(nextTokenMs({ ...RATE, tokens: 1 }, 0)).toBe(0);
  });
});

describe("roomOf", () => {
  test("is what the workers have not taken, and the free permits of the asker", () => {
    const limit = { cap: 5, used: 3, rate: null };
    expect(roomOf(limit, NOW)).toBe(2);
    expect(roomOf(limit, { ...NOW, free: 2 })).toBe(4);
  });

  test("is zero beyond a cap that was lowered, also with free permits", () => {
    expect(roomOf({ cap: 2, used: 5, rate: null }, { ...NOW, free: 1 })).toBe(0);
    expect(roomOf({ cap: 2, used: 5, rate: null }, { ...NOW, free: 4 })).toBe(1);
  });

  test("leaves half of a cap to jobs that start at once, if the asker prefetches", () => {
    expect(roomOf({ cap: 5, used: 0, rate: null }, { ...NOW, prefetch: true })).toBe(2);
    expect(roomOf({ cap: 5, used: 2, rate: null }, { ...NOW, prefetch: true })).toBe(0);
    expect(roomOf({ cap: 5, used: 2, rate: null }, { free: 1, prefetch: true, now: 0 })).toBe(1);
  });

  test("is the whole tokens of a rate, and none for a prefetch", () => {
    expect(roomOf({ cap: null, used: 0, rate: RATE }, { ...NOW, now: 250 })).toBe(2);
    expect(roomOf({ cap: 1, used: 0, rate: RATE }, { ...NOW, now: 250 })).toBe(1);
    expect(roomOf({ cap: null, used: 0, rate: RATE }, { free: 0, prefetch: true, now: 250 })).toBe(
      0,
    );
  });
});

describe("PermitBook", () => {
  const A = 1;
  const B = 2;

  function bookWith(count: number): PermitBook {
    const book = new PermitBook();
    book.answered([], [{ limit: A, count }], 0);
    return book;
  }

  test("lends free permits once, until the claim has ended", () => {
    const book = bookWith(3);
    book.use([A], 0);

    const lent = book.lend();

    expect(lent).toEqual([{ limit: A, count: 2 }]);
    expect(book.lend()).toEqual([]);
    book.answered(lent, [], 0);
    expect(book.lend()).toEqual(lent);
  });

  test("lends a permit again after its job has ended", () => {
    const book = bookWith(1);
    book.use([A], 0);
    expect(book.lend()).toEqual([]);

    book.free([A], 5);

    expect(book.lend()).toEqual([{ limit: A, count: 1 }]);
  });

  test("forgets permits that were lent to a lost claim, and asks to tell the store", () => {
    const book = bookWith(3);
    book.use([A], 0);

    expect(book.isUrgent).toBe(false);
    book.lost(book.lend());

    expect(book.isUrgent).toBe(true);
    expect(book.lend()).toEqual([]);
    expect(book.nextReturn(250)).toBe(-Infinity);
    expect(book.toKeep(0, 250)).toEqual([{ limit: A, count: 1 }]);
    book.keep([{ limit: A, count: 1 }], 0);
    expect(book.nextReturn(250)).toBe(-Infinity);
    book.told();
    expect(book.nextReturn(250)).toBeNull();
  });

  test("keeps free permits for a while, then returns what was never used in that time", () => {
    const book = bookWith(4);
    book.use([A], 0);
    book.use([A], 100);
    book.free([A], 200);

    expect(book.nextReturn(250)).toBe(250);
    expect(book.toKeep(249, 250)).toEqual([{ limit: A, count: 4 }]);
    expect(book.toKeep(250, 250)).toEqual([{ limit: A, count: 2 }]);
    book.keep([{ limit: A, count: 2 }], 250);
    book.told();
    expect(book.nextReturn(250)).toBe(500);
    expect(book.toKeep(500, 250)).toEqual([{ limit: A, count: 1 }]);
  });

  test("returns nothing while all permits are in use", () => {
    const book = bookWith(1);
    book.use([A], 0);

    expect(book.nextReturn(250)).toBeNull();
    expect(book.toKeep(10_000, 250)).toEqual([{ limit: A, count: 1 }]);
  });

  test("returns permits that others want as soon as they are free, once per request", () => {
    const book = bookWith(2);
    book.use([A, A], 0);
    book.wanted(A, 1_000);
    expect(book.nextReturn(250)).toBeNull();
    book.keep(book.toKeep(0, 250), 0);
    book.told();

    book.free([A], 5);

    expect(book.lend()).toEqual([]);
    expect(book.nextReturn(250)).toBe(-Infinity);
    expect(book.toKeep(5, 250)).toEqual([{ limit: A, count: 1 }]);
    book.keep([{ limit: A, count: 1 }], 5);
    book.wanted(A, 1_000);
    book.free([A], 6);
    expect(book.lend()).toEqual([{ limit: A, count: 1 }]);
  });

  test("owes nothing of a limit that it does not hold", () => {
    const book = new PermitBook();
    book.wanted(A, 1_000);
    book.answered([], [{ limit: A, count: 1 }], 0);

    expect(book.lend()).toEqual([{ limit: A, count: 1 }]);
  });

  test("returns the permits of each limit in its own time", () => {
    const book = bookWith(1);
    book.answered([], [{ limit: B, count: 1 }], 100);

    expect(book.nextReturn(250)).toBe(250);
    expect(book.toKeep(250, 250)).toEqual([{ limit: B, count: 1 }]);
    book.keep([{ limit: B, count: 1 }], 250);
    book.told();
    expect(book.nextReturn(250)).toBe(500);
  });
});
