import { describe, expect, test } from "vitest";
import {
  firstSlot,
  nextSlots,
  planTicks,
  shortestInterval,
  slotDelay,
  type SlotRules,
} from "./plan.ts";

const HOUR = 3_600_000;
const SECOND = 1_000;
/** Every hour. */
const rules: SlotRules = {
  cron: "@hourly",
  timeZone: "UTC",
  missedMax: 0,
  startsAt: null,
  endsAt: null,
};

describe("the slots that are due now (000-54)", () => {
  test("none before the next slot", () => {
    expect(planTicks(rules, 5 * HOUR, 5 * HOUR - 1)).toEqual({
      slots: [],
      missed: null,
      nextSlot: 5 * HOUR,
    });
  });

  test("a next slot that a clock ahead has left is not believed", () => {
    const nextSlot = (slot: number | null, ticked: readonly number[] = [], more = {}) =>
      planTicks({ ...rules, ...more }, slot, 5 * HOUR + 1, ticked).nextSlot;
    expect(nextSlot(6 * HOUR)).toBe(6 * HOUR);
    expect(nextSlot(9 * HOUR)).toBe(6 * HOUR);
    expect(nextSlot(9 * HOUR, [6 * HOUR, 8 * HOUR])).toBe(7 * HOUR);
    expect(nextSlot(9 * HOUR, [6 * HOUR, 7 * HOUR, 8 * HOUR])).toBe(9 * HOUR);
    expect(nextSlot(null, [], { endsAt: 7 * HOUR })).toBe(6 * HOUR);
    expect(nextSlot(null, [6 * HOUR, 7 * HOUR], { endsAt: 7 * HOUR })).toBeNull();
    // Code has declared another expression whose first slot comes sooner.
    expect(nextSlot(5.5 * HOUR)).toBe(5.5 * HOUR);
  });

  test("a slot within a minute of its time is not missed", () => {
    expect(planTicks(rules, HOUR, HOUR + 59_999)).toEqual({
      slots: [HOUR],
      missed: null,
      nextSlot: 2 * HOUR,
    });
    expect(planTicks(rules, HOUR, HOUR + 60_000)).toMatchObject({
      slots: [],
      missed: { first: HOUR, last: HOUR },
    });
  });

  test.each([
    [0, [9], [1, 8]],
    [1, [8, 9], [1, 7]],
    [3, [6, 7, 8, 9], [1, 5]],
    [8, [1, 2, 3, 4, 5, 6, 7, 8, 9], null],
    [1_000, [1, 2, 3, 4, 5, 6, 7, 8, 9], null],
  ])("of missed slots, the newest %i are made up for, in order", (missedMax, made, missed) => {
    expect(planTicks({ ...rules, missedMax }, HOUR, 9 * HOUR + SECOND)).toEqual({
      slots: made.map((n) => n * HOUR),
      missed: missed === null ? null : { first: missed[0]! * HOUR, last: missed[1]! * HOUR },
      nextSlot: 10 * HOUR,
    });
  });

  test("slots that were made while the clock was ahead are neither due nor missed", () => {
    const plan = (missedMax: number, ticked: readonly number[]) =>
      planTicks({ ...rules, missedMax }, HOUR, 5 * HOUR + 120_000, ticked);
    expect(plan(1, [5 * HOUR])).toMatchObject({
      slots: [4 * HOUR],
      missed: { first: HOUR, last: 3 * HOUR },
    });
    expect(plan(0, [HOUR, 4 * HOUR, 5 * HOUR])).toMatchObject({
      slots: [],
      missed: { first: 2 * HOUR, last: 3 * HOUR },
    });
    expect(plan(3, [2 * HOUR, 4 * HOUR])).toMatchObject({
      slots: [HOUR, 3 * HOUR, 5 * HOUR],
      missed: null,
    });
    const onTime = planTicks({ ...rules, missedMax: 0 }, HOUR, HOUR + 1, [HOUR]);
    expect(onTime).toEqual({ slots: [], missed: null, nextSlot: 2 * HOUR });
  });

  test("every second: all slots of the last minute", () => {
    const { slots } = planTicks({ ...rules, cron: "* * * * * *" }, HOUR, 2 * HOUR);
    expect(slots).toHaveLength(60);
    expect(slots.at(-1)).toBe(2 * HOUR);
  });

  test("start and end are slots themselves", () => {
    const between = { ...rules, startsAt: 2 * HOUR, endsAt: 4 * HOUR, missedMax: 9 };
    expect(firstSlot(between, 0)).toBe(2 * HOUR);
    expect(firstSlot(between, 3 * HOUR)).toBe(4 * HOUR);
    expect(firstSlot(between, 4 * HOUR)).toBeNull();
    expect(nextSlots(between, 0, 9)).toEqual([2 * HOUR, 3 * HOUR, 4 * HOUR]);
    expect(nextSlots(rules, 0, 2)).toEqual([HOUR, 2 * HOUR]);
    expect(planTicks(between, 3 * HOUR, 9 * HOUR)).toEqual({
      slots: [3 * HOUR, 4 * HOUR],
      missed: null,
      nextSlot: null,
    });
  });

  test("there is no slot after the last one of the calendar", () => {
    const yearly = { ...rules, cron: "0 0 1 1 *" };
    expect(firstSlot(yearly, Date.UTC(9999, 5))).toBeNull();
    expect(firstSlot(yearly, Date.UTC(2255, 5))).toBeNull();
  });
});

describe("the shortest time between two slots", () => {
  test.each([
    ["* * * * *", 60_000],
    ["0 3 * * *", 86_400_000],
    ["0,20 12 * * mon", 20 * 60_000],
    ["0 0 1 6 *", Infinity],
  ])("of %s is %d ms", (cron, ms) => {
    expect(shortestInterval({ cron, timeZone: "UTC" })).toBe(ms);
  });
});

describe("the jitter of a slot", () => {
  test("is the same in every process, and spreads the slots", () => {
    const delays = Array.from({ length: 1_000 }, (_, n) => slotDelay("nightly", n * HOUR, 999));

    expect(slotDelay("nightly", HOUR, 999)).toBe(delays[1]);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays)).toBeLessThanOrEqual(999);
    expect(new Set(delays).size).toBeGreaterThan(500);
    expect(delays.filter((delay) => delay < 500).length).toBeGreaterThan(400);
    expect(delays.filter((delay) => delay < 500).length).toBeLessThan(600);
  });

  test("differs by name, and is 0 without jitter", () => {
    expect(slotDelay("a", HOUR, 1e9)).not.toBe(slotDelay("b", HOUR, 1e9));
    expect(slotDelay("nightly", HOUR, 0)).toBe(0);
  });
});
