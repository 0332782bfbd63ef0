/**
 * Graphile Worker on PostgreSQL. `fast` is its documented way to high rates: a local queue of 500
 * and completions in batches; `default` changes nothing but the number of concurrent jobs.
 * Finished jobs are deleted, it keeps no history.
 */
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import type { Payload, System } from "../contestants/system.ts";

const TASK = "email";
const SLOTS = { fast: 100, default: 24 };
const POOL = 20;
const FAST = { localQueue: { size: 500 }, completeJobBatchDelay: 10, failJobBatchDelay: 10 };

const logger = new Logger(() => (level, message) => {
  if (level === "error") console.error(message);
});

export async function open(url: string, variant: string | null): Promise<System> {
  const isFast = variant === "fast";
  const producer = await makeWorkerUtils({ connectionString: url, maxPoolSize: POOL, logger });
  await producer.migrate();
  return {
    enqueue: (payload) => producer.addJob(TASK, payload),
    enqueueMany(payloads, { delayMs }) {
      const due = delayMs > 0 ? { runAt: new Date(Date.now() + delayMs) } : {};
      return producer.addJobs(payloads.map((payload) => ({ identifier: TASK, payload, ...due })));
    },
    async work({ began, slots }) {
      const runner = await run({
        preset: {
          worker: {
            connectionString: url,
            maxPoolSize: POOL,
            concurrentJobs: slots ?? (isFast ? SLOTS.fast : SLOTS.default),
            ...(isFast ? FAST : {}),
          },
        },
        taskList: { [TASK]: (payload: Payload) => began(payload) },
        parsedCronItems: [],
        noHandleSignals: true,
        logger,
      });
      return () => runner.stop();
    },
    close: async () => producer.release(),
  };
}
