/** What the tests of maintenance duties share: a store with a worker that has stopped to beat. */
import { setImmediate } from "node:timers/promises";
import { defaults } from "../../src/core/presets.ts";
import { newJob, workerId, workerInfo } from "./factories.ts";
import { takeOne } from "./steps.ts";
import type { SteadySpan } from "../../src/runtime/lease/steadiness.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import { openSqlite } from "./stores.ts";

export interface DutyWorldOptions {
  readonly beatMs?: number;
  /** The lease of the worker whose duty is tested. */
  readonly leaseMs?: number;
  /** The worker whose duty is tested. Default: one that holds nothing. */
  readonly isOwn?: boolean;
  /** How long the renewals of this worker have succeeded. Default: always. */
  readonly steadySpan?: (clock: VirtualClock) => SteadySpan | null;
}

/** A store in which a worker holds a running job, and has sent no heartbeat for a lease. */
export async function dutyWorld({
  beatMs = 1_000,
  leaseMs = workerInfo().leaseMs,
  isOwn = false,
  steadySpan = (clock) => ({ from: -Infinity, until: clock.monotonic() }),
}: DutyWorldOptions = {}) {
  const db = await openSqlite();
  const { store, clock } = db;
  const job = newJob();
  await store.enqueue([job]);
  const { worker } = await takeOne(store);
  await clock.advance(workerInfo().leaseMs);
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  return {
    parts: {
      worker: isOwn ? worker : workerId(),
      steadySpan: () => steadySpan(clock),
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
