import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { newJob, workerInfo } from "../../test/support/factories.ts";
import { openSqlite } from "../../test/support/stores.ts";
import { stateOf, takeOne } from "../../test/support/steps.ts";
import { defaults } from "../core/presets.ts";
import { rescuer } from "./services.ts";

describe("a rescuer", () => {
  test("that looks twice at once takes nothing back: only time makes a silence", async () => {
    await using world = await makeWorld();

    world.duty.wake();
    await world.stillness();
    world.duty.wake();
    await world.stillness();
    expect(await stateOf(world.store, world.id)).toBe("running");
    await world.clock.advance(world.lookMs);
    await world.stillness();

    expect(await stateOf(world.store, world.id)).toBe("scheduled");
    expect(world.logged).toEqual(["a silent worker's jobs were taken back"]);
  });

  test("takes nothing back from a worker that beats between two looks", async () => {
    await using world = await makeWorld();
    world.duty.wake();
    await world.stillness();

    await world.store.renew(world.worker, 1);
    await world.clock.advance(world.lookMs);
    await world.stillness();

    expect(await stateOf(world.store, world.id)).toBe("running");
  });
});

/** A worker that has fallen silent with a job in its hands, and a duty that will look for it. */
async function makeWorld() {
  const db = await openSqlite();
  const { store, clock } = db;
  const { leaseMs } = workerInfo();
  const job = newJob();
  await store.enqueue([job]);
  const { worker } = await takeOne(store);
  await clock.advance(leaseMs);
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const duty = rescuer({
    store,
    clock,
    random: () => 0.5,
    logger: { debug: log, info: log, warn: log, error: log },
    preset: defaults,
    policyOf: () => defaults.retry,
    leaseMs,
    pollMs: 1_000,
  });
  return {
    store,
    clock,
    duty,
    logged,
    worker,
    id: job.id,
    lookMs: leaseMs / 6,
    /** Each look is a handful of turns. */
    async stillness(): Promise<void> {
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await duty.stop();
      await db[Symbol.asyncDispose]();
    },
  };
}
