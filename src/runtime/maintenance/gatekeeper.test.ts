import { describe, expect, test } from "vitest";
import { dutyWorld } from "../../../test/support/duties.ts";
import { completed, newJob, newJobs } from "../../../test/support/factories.ts";
import { recordOf, settleAll, takeOne } from "../../../test/support/steps.ts";
import { gatekeeper } from "./gatekeeper.ts";

describe("a gatekeeper", () => {
  test("brings back all jobs of a key that no worker takes, one every 20 ms", async () => {
    await using world = await dutyWorld();
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

    duty.wake();
    await world.stillness();
    await clock.advance(0);
    await world.stillness();
    expect(await held()).toBe(4);
    for (let tick = 0; tick < 4; tick += 1) {
      await clock.advance(20);
      await world.stillness();
    }
    await duty.stop();

    expect(await held()).toBe(0);
  });

  test("rests until the promoter wakes it when there was nothing to bring back", async () => {
    await using world = await dutyWorld();
    const { store, clock, parts } = world;
    let looks = 0;
    const release = store.release.bind(store);
    Reflect.set(store, "release", (...args: Parameters<typeof release>) => {
      looks += 1;
      return release(...args);
    });
    const duty = gatekeeper(parts);

    duty.wake();
    await world.stillness();
    await clock.advance(10 * parts.pollMs);
    await world.stillness();
    expect(looks).toBe(1);
    duty.wake();
    await world.stillness();
    await duty.stop();

    expect(looks).toBe(2);
  });
});
