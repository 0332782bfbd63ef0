/** Millrace as a contestant, through its public API: the URL alone says which store. */
import { fileURLToPath } from "node:url";
import { defineJob, openMillrace, typed, type Millrace } from "millrace";
import { createApp } from "../../src/http/app.ts";
import { listen } from "../../src/http/listen.ts";
import type { Payload, System } from "./system.ts";

/** Round trips are what PostgreSQL costs: it gets batches as large as those of the peers. */
const BEST = { sqlite: { slots: 200, batch: 100 }, postgres: { slots: 1000, batch: 500 } };
const TOKEN = "a-token-for-benchmarks";

const contract = defineJob({ type: "email", payload: typed<Payload>() });

export async function open(url: string): Promise<System> {
  const mill = await openMillrace(url);
  const best = url.startsWith("sqlite:") ? BEST.sqlite : BEST.postgres;
  return {
    enqueue: (payload) => mill.enqueue(contract, payload),
    enqueueMany: (payloads, { delayMs }) => {
      const options = delayMs > 0 ? { delay: delayMs } : {};
      return mill.enqueueMany(payloads.map((payload) => contract.of(payload, options)));
    },
    async work({ began, slots }) {
      const job = contract.run(async (payload) => began(payload));
      const worker = mill.work({
        jobs: [job],
        lanes: { general: slots ?? best.slots },
        batch: best.batch,
      });
      await worker.ready;
      return () => worker.stop();
    },
    serve: () => serve(mill),
    close: () => mill.close(),
  };
}

async function serve(mill: Millrace): Promise<{ address: string; token: string }> {
  const app = createApp({
    mill,
    count: async () => 0,
    contracts: () => [],
    closing: new AbortController().signal,
    token: TOKEN,
    pageFolder: fileURLToPath(new URL("../../dashboard", import.meta.url)),
    failed: (error) => console.error(error),
  });
  const { port } = await listen(app.fetch, { host: "127.0.0.1", port: 0 });
  return { address: `http://127.0.0.1:${port}`, token: TOKEN };
}
