/**
 * plainjob on SQLite. Its worker runs one job after the other, and it syncs less than we do: its
 * `synchronous = NORMAL` may lose the last commits when the power fails. Best settings: polling
 * every 5 ms instead of every second.
 */
import Sqlite from "better-sqlite3";
import { better, defineQueue, defineWorker } from "plainjob";
import type { Payload, System } from "../contestants/system.ts";

const TYPE = "email";
const silent = { error: console.error, warn() {}, info() {}, debug() {} };

export async function open(url: string): Promise<System> {
  const connection = better(new Sqlite(url.slice("sqlite:".length)));
  const queue = defineQueue({ connection, logger: silent });
  return {
    enqueue: async (payload) => queue.add(TYPE, payload),
    enqueueMany: async (payloads, { delayMs }) =>
      queue.addMany(TYPE, [...payloads], { delay: delayMs }),
    async work({ began }) {
      const run = async ({ data: text }: { data: string }): Promise<void> => {
        const payload: Payload = JSON.parse(text);
        await began(payload);
      };
      const worker = defineWorker(TYPE, run, { queue, logger: silent, pollIntervall: 5 });
      worker.start().catch(console.error);
      return () => worker.stop();
    },
    close: async () => queue.close(),
  };
}
