import { describe, expect, test } from "vitest";
import { dutyWorld } from "../../../test/support/duties.ts";
import { workerInfo } from "../../../test/support/factories.ts";
import { stateOf } from "../../../test/support/steps.ts";
import { rescuer } from "./rescuer.ts";

describe("a rescuer", () => {
  test("that looks twice at once takes nothing back: only time makes a silence", async () => {
    await using world = await rescuerWorld();

    world.duty.wake();
    await world.stillness();
    world.duty.wake();
    await world.stillness();
    expect(await stateOf(world.store, world.id)).toBe("running");
    await world.clock.advance(world.lookMs);
    await world.stillness();

    expect(await stateOf(world.store, world.id)).toBe("scheduled");
    expect(world.logged).toEqual(["dead worker: its jobs were rescued"]);
  });

  test("takes nothing back from a worker that beats between two looks", async () => {
    await using world = await rescuerWorld();
    world.duty.wake();
    await world.stillness();

    await world.store.renew(world.worker, 1);
    await world.clock.advance(world.lookMs);
    await world.stillness();

    expect(await stateOf(world.store, world.id)).toBe("running");
  });

  test("waits for two heartbeats that did not come, however close its looks are", async () => {
    const { leaseMs } = workerInfo();
    await using world = await rescuerWorld({ beatMs: leaseMs / 3 });
    world.duty.wake();
    await world.stillness();

    for (let look = 1; look < 4; look += 1) {
      await world.clock.advance(world.lookMs);
      await world.stillness();
      expect(await stateOf(world.store, world.id)).toBe("running");
    }
    await world.clock.advance(world.lookMs);
    await world.stillness();

    expect(await stateOf(world.store, world.id)).toBe("scheduled");
  });

  test("says nothing when the worker beats right before its jobs would be taken back", async () => {
    await using world = await rescuerWorld();
    const { store, worker } = world;
    const rescue = store.rescue.bind(store);
    Reflect.set(store, "rescue", async (...args: Parameters<typeof rescue>) => {
      await store.renew(worker, 1);
      return rescue(...args);
    });

    world.duty.wake();
    await world.stillness();
    await world.clock.advance(world.lookMs);
    await world.stillness();

    expect(await stateOf(store, world.id)).toBe("running");
    expect(world.logged).toEqual([]);
  });
});

async function rescuerWorld(options: { beatMs?: number } = {}) {
  const world = await dutyWorld(options);
  const duty = rescuer(world.parts);
  return {
    ...world,
    duty,
    lookMs: world.parts.leaseMs / 6,
    async [Symbol.asyncDispose](): Promise<void> {
      await duty.stop();
      await world[Symbol.asyncDispose]();
    },
  };
}
