import { describe, expect, test } from "vitest";
import { dutyWorld } from "../../../test/support/duties.ts";
import { newJob, newSchedule } from "../../../test/support/factories.ts";
import { stateOf } from "../../../test/support/steps.ts";
import { firstSlot } from "../../core/cron/plan.ts";
import type { JobStore } from "../../store/store.ts";
import { promoter, type PollTargets } from "./promoter.ts";

const NO_LISTENER = { claim() {}, keepGates() {}, probe() {}, tickSchedules() {}, giveTurns() {} };
const EMAIL = { kind: "type", name: "email" } as const;

describe("a promoter", () => {
  test("wakes at the due time of the next job, before its poll", async () => {
    await using world = await dutyWorld();
    const { store, clock, parts } = world;
    const job = newJob({ due: { delayMs: parts.pollMs / 2 } });
    await store.enqueue([job]);
    const duty = promoter(parts, NO_LISTENER);

    duty.wake();
    await world.stillness();
    await clock.advance(parts.pollMs / 2 - 1);
    await world.stillness();
    expect(await stateOf(store, job.id)).toBe("scheduled");
    await clock.advance(1);
    await world.stillness();
    await duty.stop();

    expect(await stateOf(store, job.id)).toBe("queued");
  });

  test("wakes no claim on an idle store, and sends one statement per poll", async () => {
    await using world = await dutyWorld();
    const { parts, clock } = world;
    const polls = countPromotions(world.store);
    const told: string[] = [];
    const duty = promoter(parts, tellTo(told));

    duty.wake();
    for (let poll = 0; poll < 10; poll += 1) {
      await world.stillness();
      await clock.advance(parts.pollMs);
    }
    await world.stillness();
    await duty.stop();

    expect(told).toEqual([]);
    expect(polls.count).toBe(11);
  });

  test("tells the claims of claimable jobs at every poll, and not at every wake-up", async () => {
    await using world = await dutyWorld();
    const { store, clock, parts } = world;
    await store.enqueue([newJob()]);
    const told: string[] = [];
    const duty = promoter(parts, tellTo(told));

    for (let wakeUp = 0; wakeUp < 5; wakeUp += 1) {
      duty.wake();
      await world.stillness();
    }
    expect(told).toEqual(["claim"]);
    await clock.advance(parts.pollMs);
    await world.stillness();
    await duty.stop();

    expect(told).toEqual(["claim", "claim"]);
  });

  test("tells the gatekeeper at a wake-up that a gate has opened", async () => {
    await using world = await dutyWorld();
    const { store, parts } = world;
    await store.enqueue([newJob({ type: "email" })]);
    await store.pause(EMAIL, { reason: "maintenance", by: null });
    await store.hold(10);
    const told: string[] = [];
    const duty = promoter(parts, tellTo(told));
    duty.wake();
    await world.stillness();
    expect(told).toEqual(["keepGates"]);

    duty.wake();
    await world.stillness();
    expect(told).toEqual(["keepGates"]);
    await store.resume(EMAIL);
    duty.wake();
    await world.stillness();
    await duty.stop();

    expect(told).toEqual(["keepGates", "keepGates"]);
  });

  test("tells the scheduler at a poll that a slot is due, although no wake-up came", async () => {
    await using world = await dutyWorld();
    const { store, clock, parts } = world;
    const told: string[] = [];
    const duty = promoter(parts, tellTo(told));
    duty.wake();
    await world.stillness();
    const often = newSchedule({ cron: "* * * * * *" });
    await store.saveSchedule(often, { revision: null, by: "ada" }, firstSlot);

    await clock.advance(parts.pollMs);
    await world.stillness();
    await duty.stop();

    expect(told).toEqual(["tickSchedules"]);
  });

  test("tells all when the store fails, so that none depends on it", async () => {
    await using world = await dutyWorld();
    Reflect.set(world.store, "promote", () => Promise.reject(new Error("planted")));
    const told: string[] = [];
    const duty = promoter(world.parts, tellTo(told));

    duty.wake();
    await world.stillness();
    await duty.stop();

    expect(told).toEqual(["claim", "keepGates", "tickSchedules"]);
  });

  test.each([
    [0, 800],
    [0.5, 1_000],
    [0.99, 1_196],
  ])("polls at another time than other workers: %d → %d ms", async (random, pollMs) => {
    await using world = await dutyWorld();
    const { clock } = world;
    const polls = countPromotions(world.store);
    const duty = promoter({ ...world.parts, random: () => random }, NO_LISTENER);

    duty.wake();
    await world.stillness();
    await clock.advance(pollMs - 1);
    await world.stillness();
    expect(polls.count).toBe(1);
    await clock.advance(1);
    await world.stillness();
    await duty.stop();

    expect(polls.count).toBe(2);
  });
});

function tellTo(told: string[]): PollTargets {
  const at = (name: string) => () => void told.push(name);
  return {
    claim: at("claim"),
    keepGates: at("keepGates"),
    probe: at("probe"),
    tickSchedules: at("tickSchedules"),
    giveTurns: at("giveTurns"),
  };
}

function countPromotions(store: JobStore): { count: number } {
  const polls = { count: 0 };
  const promote = store.promote.bind(store);
  Reflect.set(store, "promote", (limit: number) => {
    polls.count += 1;
    return promote(limit);
  });
  return polls;
}
