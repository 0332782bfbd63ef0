import { describe, expect, test } from "vitest";
import { dutyWorld, type DutyWorldOptions } from "../../../test/support/duties.ts";
import { workerInfo } from "../../../test/support/factories.ts";
import { add, stateOf, takeOne } from "../../../test/support/steps.ts";
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

describe("a rescuer that meets a bad row", () => {
  test("logs the jobs without a row once, and what to do", async () => {
    await using world = await rescuerWorld();
    const { store } = world;
    const rescue = store.rescue.bind(store);
    Reflect.set(store, "rescue", async (...args: Parameters<typeof rescue>) => {
      return { ...(await rescue(...args)), missing: [7, 8] };
    });

    await world.rescueAll();

    expect(await stateOf(store, world.id)).toBe("scheduled");
    expect(world.logged).toEqual([
      expect.stringMatching(/no row in the table job.*millrace doctor --fix/),
      "dead worker: its jobs were rescued",
    ]);
  });

  test("rescues the jobs of the other dead workers when one rescue fails", async () => {
    await using world = await rescuerWorld();
    const { store, clock } = world;
    const [other] = await add(store, {});
    const second = await takeOne(store);
    await clock.advance(workerInfo().leaseMs + 1);
    const rescue = store.rescue.bind(store);
    Reflect.set(store, "rescue", async (...args: Parameters<typeof rescue>) => {
      if (args[0].worker === world.worker) throw new Error("planted");
      return rescue(...args);
    });

    await world.rescueAll();

    expect(second.job.id).toBe(other);
    expect(await stateOf(store, world.id)).toBe("running");
    expect(await stateOf(store, other)).toBe("scheduled");
    expect(world.logged).toEqual([
      "cannot rescue the jobs of a dead worker; trying again",
      "dead worker: its jobs were rescued",
    ]);
  });
});

describe("a rescuer after an outage", () => {
  test("never takes back the jobs of its own worker", async () => {
    await using world = await rescuerWorld({ isOwn: true });
    world.duty.wake();
    for (let look = 0; look < 20; look += 1) await world.look();
    expect(await stateOf(world.store, world.id)).toBe("running");
  });

  test("takes nothing back while its own worker cannot renew", async () => {
    await using world = await rescuerWorld({ steadySpan: () => null });
    world.duty.wake();
    for (let look = 0; look < 20; look += 1) await world.look();
    expect(await stateOf(world.store, world.id)).toBe("running");
  });

  test("looks twice again: no look before the end of the outage counts", async () => {
    let from = Infinity;
    await using world = await rescuerWorld({
      steadySpan: (clock) => (from === Infinity ? null : { from, until: clock.monotonic() }),
    });
    world.duty.wake();
    for (let look = 0; look < 6; look += 1) await world.look();

    from = world.clock.monotonic() + 1;
    await world.look();
    expect(await stateOf(world.store, world.id)).toBe("running");
    await world.look();

    expect(await stateOf(world.store, world.id)).toBe("scheduled");
  });

  test("waits until its own worker has renewed after the first look", async () => {
    let until = 0;
    await using world = await rescuerWorld({ steadySpan: () => ({ from: -Infinity, until }) });
    world.duty.wake();
    for (let look = 0; look < 6; look += 1) await world.look();
    expect(await stateOf(world.store, world.id)).toBe("running");

    until = world.clock.monotonic();
    await world.look();

    expect(await stateOf(world.store, world.id)).toBe("scheduled");
  });

  test("with a short lease gives workers with a long lease time for a heartbeat", async () => {
    let from = Infinity;
    await using world = await rescuerWorld({
      leaseMs: 600,
      beatMs: 200,
      steadySpan: (clock) => ({ from, until: clock.monotonic() }),
    });
    from = world.clock.monotonic();
    world.duty.wake();
    await world.stillness();

    for (let ms = 0; ms < 1_700; ms += world.lookMs) await world.look();
    expect(await stateOf(world.store, world.id)).toBe("running");
    for (let ms = 0; ms < 300; ms += world.lookMs) await world.look();

    expect(await stateOf(world.store, world.id)).toBe("scheduled");
  });
});

async function rescuerWorld(options: DutyWorldOptions = {}) {
  const world = await dutyWorld(options);
  const duty = rescuer(world.parts);
  return {
    ...world,
    duty,
    /** Two looks, as far apart as a silence takes. */
    async rescueAll(): Promise<void> {
      duty.wake();
      await world.stillness();
      await world.clock.advance(world.parts.leaseMs / 6);
      await world.stillness();
    },
    lookMs: world.parts.leaseMs / 6,
    async look(): Promise<void> {
      await world.clock.advance(world.parts.leaseMs / 6);
      await world.stillness();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await duty.stop();
      await world[Symbol.asyncDispose]();
    },
  };
}
