/** A store that answers a call of a worker late, or never. Time is virtual, the store is real. */
import { setImmediate } from "node:timers/promises";
import { defineJob } from "millrace";
import { describe, expect, test } from "vitest";
import { Client } from "../../../src/client/client.ts";
import { defaults } from "../../../src/core/presets.ts";
import { settingsOf } from "../../../src/runtime/settings.ts";
import { HostProcess } from "../../../src/runtime/crashes/host-process.ts";
import { JobWorker } from "../../../src/runtime/worker.ts";
import { seededDice } from "../../support/seeded-dice.ts";
import { openSqlite } from "../../support/stores.ts";
import { latch, replaceVerb, type Latch } from "../support.ts";

const LEASE_MS = 3_000;

describe("a store that does not answer", () => {
  test("a heartbeat: the runs of the worker are told to stop at the end of the lease", async () => {
    await using world = await openWorld();
    await world.start();
    const answered = world.holdUp("renew");

    await world.clock.advance(LEASE_MS - 1_000);
    expect(world.signals.map(({ aborted }) => aborted)).toEqual([false]);
    await world.clock.advance(1_000);

    expect(world.signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(world.warnings).toEqual([
      expect.stringMatching(/^lease expired: the store has not answered for .*; 1 run\(s\)/),
    ]);
    answered.open();
    await world.clock.advance(LEASE_MS);
    world.end.open();
    await world.stillness();
    expect(await world.outcomes()).toEqual(["succeeded"]);
  });

  test("a claim before the end of the lease: the job goes back without a run", async () => {
    await using world = await openWorld();
    const claimed = world.holdUp("claim");
    await world.start();
    const answered = world.holdUp("renew");
    await world.clock.advance(LEASE_MS);

    claimed.open();
    await world.stillness();
    expect(world.signals).toEqual([]);
    expect(await world.outcomes()).toEqual(["interrupted"]);
    answered.open();
    await world.clock.advance(LEASE_MS);
    world.end.open();
    await world.stillness();

    expect(await world.outcomes()).toEqual(["interrupted", "succeeded"]);
  });
});

/** A worker with one job, whose run goes on until `end` opens. */
async function openWorld() {
  const db = await openSqlite();
  const { store, clock } = db;
  const end = latch();
  const signals: AbortSignal[] = [];
  const warnings: string[] = [];
  const held: Latch[] = [];
  const job = defineJob({ type: "job" }).run(async (_, ctx) => {
    signals.push(ctx.signal);
    await end.passed;
  });
  const silent = (): void => {};
  const warn = (message: string): void => void warnings.push(message);
  const logger = { debug: silent, info: silent, warn, error: silent };
  const dice = seededDice(1);
  const client = new Client({ store, clock, dice, logger, tenant: "default", preset: defaults });
  const { id } = await client.enqueue(job);
  const stillness = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
  };
  let worker: JobWorker | null = null;
  return {
    clock,
    signals,
    warnings,
    end,
    stillness,
    async start(): Promise<void> {
      const settings = settingsOf({ jobs: [job], lanes: { general: 1 }, lease: LEASE_MS });
      const { jobDefaults } = client;
      const process = new HostProcess(jobDefaults.newId());
      worker = new JobWorker({ ...client.parts, jobDefaults, settings, version: "test", process });
      await worker.ready;
      await stillness();
    },
    /** The answers of all calls of this verb come when the latch opens. */
    holdUp(verb: "renew" | "claim"): Latch {
      const answered = latch();
      held.push(answered);
      const call: (...args: any[]) => Promise<unknown> = store[verb].bind(store);
      replaceVerb(store, verb, async (...args: unknown[]) => {
        const answer = await call(...args);
        await answered.passed;
        return answer;
      });
      return answered;
    },
    outcomes: async () => (await store.attempts(id)).map(({ outcome }) => outcome),
    async [Symbol.asyncDispose](): Promise<void> {
      for (const answered of [...held, end]) answered.open();
      await stillness();
      await worker?.stop({ grace: 0 });
      await client.close();
      await db[Symbol.asyncDispose]();
    },
  };
}
