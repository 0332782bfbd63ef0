/** What the tests of maintenance duties share: a store with a worker that has stopped to beat. */
import { setImmediate } from "node:timers/promises";
import { defaults } from "../../src/core/presets.ts";
import { newJob, workerInfo } from "./factories.ts";
import { takeOne } from "./steps.ts";
import { openSqlite } from "./stores.ts";

/** A store in which a worker holds a running job, and has sent no heartbeat for a lease. */
export async function dutyWorld({ beatMs = 1_000 } = {}) {
  const db = await openSqlite();
  const { store, clock } = db;
  const { leaseMs } = workerInfo();
  const job = newJob();
  await store.enqueue([job]);
  const { worker } = await takeOne(store);
  await clock.advance(leaseMs);
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  return {
    parts: {
      store,
      clock,
      random: () => 0.5,
      logger: { debug: log, info: log, warn: log, error: log },
      policyOf: () => defaults.retry,
      leaseMs,
      beatMs,
      pollMs: 1_000,
    },
    store,
    clock,
    logged,
    worker,
    id: job.id,
    /** One tick takes a handful of turns of the event loop. */
    async stillness(): Promise<void> {
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}
