import { describe, expect, test } from "vitest";
import { Doubts } from "./doubts.ts";

const HOUR_MS = 3_600_000;

describe("Doubts", () => {
  test("keeps a claim that was not asked about, however long the database was away", () => {
    const { doubts, doubt, pass } = oneDoubt();
    pass(HOUR_MS);
    expect(doubts.due("worker")).toEqual([doubt]);
  });

  test("asks about a claim that the store does not know yet more and more rarely", () => {
    const { doubts, doubt, pass } = oneDoubt();
    let questions = 0;
    for (let ms = 0; ms < 60_000; ms += 10, pass(10)) {
      questions += doubts.due("worker").length;
      for (const each of doubts.due("worker")) doubts.miss(each);
    }
    expect(questions).toBeGreaterThan(8);
    expect(questions).toBeLessThan(15);
    pass(60_000);
    expect(doubts.due("worker")).toEqual([doubt]);
  });

  test("drops a claim of which the store knows nothing after a long time", () => {
    const { doubts, doubt, pass } = oneDoubt();
    pass(HOUR_MS);
    doubts.miss(doubt);
    expect(doubts.due("worker")).toEqual([]);
  });

  test("drops a claim that was found", () => {
    const { doubts, doubt } = oneDoubt();
    doubts.settle(doubt);
    expect(doubts.due("worker")).toEqual([]);
  });

  test("asks each worker about its own claims alone", () => {
    expect(oneDoubt().doubts.due("another")).toEqual([]);
  });
});

function oneDoubt() {
  let now = 0;
  const doubts = new Doubts(() => now);
  const doubt = { worker: "worker", secret: "secret", buffer: false };
  doubts.add(doubt);
  return { doubts, doubt, pass: (ms: number) => (now += ms) };
}
