import { describe, expect, test } from "vitest";
import type { ClaimRequest } from "../../store.ts";
import { Doubts } from "./lost-claims.ts";

const HOUR_MS = 3_600_000;

describe("Doubts", () => {
  test("keeps a claim that was not asked about, however long the database was away", () => {
    const { doubts, request, pass } = oneDoubt();
    pass(HOUR_MS);
    expect(doubts.due(request)).toHaveLength(1);
  });

  test("asks about a claim that the store does not know yet more and more rarely", () => {
    const { doubts, request, pass } = oneDoubt();
    let questions = 0;
    for (let ms = 0; ms < 60_000; ms += 10, pass(10)) {
      questions += doubts.due(request).length;
      for (const each of doubts.due(request)) doubts.miss(each);
    }
    expect(questions).toBeGreaterThan(8);
    expect(questions).toBeLessThan(15);
    pass(60_000);
    expect(doubts.due(request)).toHaveLength(1);
  });

  test("drops a claim of which the store knows nothing after a long time", () => {
    const { doubts, request, pass } = oneDoubt();
    pass(HOUR_MS);
    for (const each of doubts.due(request)) doubts.miss(each);
    expect(doubts.due(request)).toEqual([]);
  });

  test("drops a claim that was found", () => {
    const { doubts, request } = oneDoubt();
    for (const each of doubts.due(request)) doubts.settle(each);
    expect(doubts.due(request)).toEqual([]);
  });

  test("asks each worker about its own claims alone", () => {
    const { doubts, request } = oneDoubt();
    expect(doubts.due({ ...request, worker: "another" })).toEqual([]);
  });

  test("asks about a claim before the next for the same slots, however many it wants", () => {
    const { doubts, request } = oneDoubt();
    expect(doubts.due({ ...request, lanes: ["fast"] })).toEqual([]);
    expect(doubts.due({ ...request, buffer: true })).toEqual([]);
    expect(doubts.due({ ...request, limit: 1 })).toHaveLength(1);
  });

  test("asks about a claim for a buffer before any other of its worker", () => {
    const { doubts, request } = oneDoubt({ buffer: true });
    expect(doubts.due({ ...request, lanes: ["fast"], buffer: false })).toHaveLength(1);
  });

  test("forgets the claims of a worker that has left", () => {
    const { doubts, request } = oneDoubt();
    doubts.forget("another");
    expect(doubts.due(request)).toHaveLength(1);
    doubts.forget("worker");
    expect(doubts.due(request)).toEqual([]);
  });
});

function oneDoubt(wanted: Partial<ClaimRequest> = {}) {
  let now = 0;
  const doubts = new Doubts(() => now);
  const request = { worker: "worker", lanes: "any", limit: 10, buffer: false, ...wanted } as const;
  doubts.add(request, "secret");
  return { doubts, request, pass: (ms: number) => (now += ms) };
}
