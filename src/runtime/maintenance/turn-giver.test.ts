import { describe, expect, test } from "vitest";
import { dutyWorld } from "../../../test/support/duties.ts";
import { newJobs } from "../../../test/support/factories.ts";
import type { JobStore } from "../../store/store.ts";
import { TurnGiver } from "./turn-giver.ts";

/** The instants at which turns are given, in milliseconds since the first look. */
function countCalls(store: JobStore, now: () => number): number[] {
  const calls: number[] = [];
  const began = now();
  const give = store.giveTurns.bind(store);
  Reflect.set(store, "giveTurns", (limit: number) => {
    calls.push(now() - began);
    return give(limit);
  });
  return calls;
}

describe("a turn giver", () => {
  test("calls at most every 25 ms, and goes on while more jobs wait", async () => {
    await using world = await dutyWorld();
    const { store, clock, parts } = world;
    await store.setFairness("general", {}, null);
    await store.enqueue(newJobs(2_500));
    const calls = countCalls(store, () => clock.monotonic());
    const turns = new TurnGiver(parts);

    turns.wake();
    turns.wake();
    for (let step = 0; step < 10; step += 1) {
      await world.stillness();
      await clock.advance(25);
    }
    await world.stillness();
    await turns.stop();

    expect(calls).toEqual([0, 25, 50]);
    expect((await store.promote(1)).waiting.fair).toBe(false);
  });

  test("sends nothing at hints until it knows of a fair lane, and a minute after", async () => {
    await using world = await dutyWorld();
    const { store, clock, parts } = world;
    const calls = countCalls(store, () => clock.monotonic());
    const turns = new TurnGiver(parts);

    turns.hint();
    await world.stillness();
    expect([calls.length, turns.isKnown]).toEqual([0, false]);
    turns.wake();
    await world.stillness();
    await clock.advance(30_000);
    turns.hint();
    await world.stillness();
    expect([calls.length, turns.isKnown]).toEqual([2, true]);
    await clock.advance(30_000);
    turns.hint();
    await world.stillness();
    await turns.stop();
    expect([calls.length, turns.isKnown]).toEqual([2, false]);
  });
});
