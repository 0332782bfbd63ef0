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

/** Lets a turn giver run for so many steps of 25 ms. */
async function giveFor(world: Awaited<ReturnType<typeof dutyWorld>>, steps: number): Promise<void> {
  const turns = new TurnGiver(world.parts);
  turns.wake();
  turns.wake();
  for (let step = 0; step < steps; step += 1) {
    await world.stillness();
    await world.clock.advance(25);
  }
  await world.stillness();
  await turns.stop();
}

describe("a turn giver", () => {
  test("calls at most every 25 ms, and goes on while there are turns to give", async () => {
    await using world = await dutyWorld();
    const { store, clock } = world;
    await store.setFairness("general", {}, null);
    await store.enqueue(newJobs(2_500, { tenant: "acme" }));
    await store.enqueue(newJobs(1_500, { tenant: "beta" }));
    const calls = countCalls(store, () => clock.monotonic());

    await giveFor(world, 10);

    // Two calls give all jobs of the smaller tenant their turns. The third finds a fair order.
    expect(calls).toEqual([0, 25, 50]);
  });

  test("looks at a long backlog in a fair order every 100 ms, until its end", async () => {
    await using world = await dutyWorld();
    const { store, clock } = world;
    await store.setFairness("general", {}, null);
    await store.enqueue(newJobs(6_500));
    const calls = countCalls(store, () => clock.monotonic());

    await giveFor(world, 20);

    expect(calls).toEqual([0, 100]);
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
