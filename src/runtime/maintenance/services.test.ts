import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { completed, newJob, newJobs, workerInfo } from "../../../test/support/factories.ts";
import { openSqlite } from "../../../test/support/stores.ts";
import { recordOf, settleAll, stateOf, takeOne } from "../../../test/support/steps.ts";
import { defaults } from "../../core/presets.ts";
import { pruners } from "./pruner.ts";
import { retentionOf } from "./retention-settings.ts";
import { gatekeeper, rescuer } from "./services.ts";

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

  test("waits for two heartbeats that did not come, however close its looks are", async () => {
    const { leaseMs } = workerInfo();
    await using world = await makeWorld({ beatMs: leaseMs / 3 });
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
    await using world = await makeWorld();
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

describe("a gatekeeper", () => {
  test("brings back all jobs of a key that nobody takes, without a poll for each", async () => {
    await using world = await makeWorld();
    const { store, clock } = world;
    const keyed = { concurrencyKey: "docs/main" };
    await store.enqueue([newJob(keyed)]);
    const holder = await takeOne(store);
    const jobs = newJobs(6, keyed);
    await store.enqueue(jobs);
    await store.hold(100);
    await settleAll(store, holder, completed());
    const held = async (): Promise<number> => {
      const records = await Promise.all(jobs.map(({ id }) => recordOf(store, id)));
      return records.filter(({ heldBy }) => heldBy?.kind === "key").length;
    };
    // The end of a run brings one of them back.
    expect(await held()).toBe(5);
    const duty = gatekeeper(world.parts);
    const start = clock.monotonic();

    duty.wake();
    for (let tick = 0; tick < 6; tick += 1) {
      await world.stillness();
      await clock.advance(0);
    }
    await duty.stop();

    expect(await held()).toBe(0);
    expect(clock.monotonic()).toBe(start);
  });

  test("looks again after a poll when there was nothing to bring back", async () => {
    await using world = await makeWorld();
    const { store, clock, parts } = world;
    const looks: number[] = [];
    const release = store.release.bind(store);
    Reflect.set(store, "release", (...args: Parameters<typeof release>) => {
      looks.push(clock.monotonic());
      return release(...args);
    });
    const duty = gatekeeper(parts);

    duty.wake();
    await world.stillness();
    await clock.advance(parts.pollMs - 1);
    await world.stillness();
    expect(looks).toHaveLength(1);
    await clock.advance(1);
    await world.stillness();
    await duty.stop();

    expect(looks).toHaveLength(2);
  });
});

describe("a pruner", () => {
  test.each([
    ["as often as the shortest retention passes", 5_000, 5_000],
    ["once a minute at least", 86_400_000, 60_000],
    ["once a second at most", 0, 1_000],
  ])("looks %s", async (_, keptMs, everyMs) => {
    await using world = await makeWorld();
    const { store, clock } = world;
    const looks: number[] = [];
    const prune = store.prune.bind(store);
    Reflect.set(store, "prune", (...args: Parameters<typeof prune>) => {
      looks.push(clock.monotonic());
      return prune(...args);
    });
    const retention = retentionOf({}, { ...defaults.retention, eventMs: keptMs });
    const [duty] = pruners({ ...world.parts, retention, isStopping: () => false });

    duty?.wake();
    for (let look = 0; look < 2; look += 1) {
      await world.stillness();
      await clock.advance(everyMs);
    }
    await world.stillness();
    await duty?.stop();

    const [first = 0, second, third] = looks;
    expect([second, third]).toEqual([first + everyMs, first + 2 * everyMs]);
  });
});

/** A worker that has fallen silent with a job in its hands, and a duty that will look for it. */
async function makeWorld({ beatMs = 1_000 } = {}) {
  const db = await openSqlite();
  const { store, clock } = db;
  const { leaseMs } = workerInfo();
  const job = newJob();
  await store.enqueue([job]);
  const { worker } = await takeOne(store);
  await clock.advance(leaseMs);
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const parts = {
    store,
    clock,
    random: () => 0.5,
    logger: { debug: log, info: log, warn: log, error: log },
    policyOf: () => defaults.retry,
    leaseMs,
    beatMs,
    pollMs: 1_000,
  };
  const duty = rescuer(parts);
  return {
    parts,
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
