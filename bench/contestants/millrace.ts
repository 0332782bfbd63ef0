/**
 * Millrace as a contestant, through its public API: the URL alone says which store. Without a
 * variant it is tuned for rate; `plain` leaves every setting but the slots at its default, and so
 * does `pipeline`, whose job has three phases.
 */
import { defineJob, openMillrace, typed, type AnyJob, type Millrace } from "millrace";
import type { Payload, System, WorkOptions } from "./system.ts";

/** Round trips are what PostgreSQL costs: its claims are as large as those of the peers. */
const BEST_SLOTS = { sqlite: 200, postgres: 1000 };
const TOKEN = "a-token-for-benchmarks";

const contract = defineJob({ type: "email", payload: typed<Payload>() });

export async function open(url: string, variant: string | null): Promise<System> {
  const mill = await openMillrace(url);
  const best = url.startsWith("sqlite:") ? BEST_SLOTS.sqlite : BEST_SLOTS.postgres;
  return {
    enqueue: (payload) => mill.enqueue(contract, payload),
    enqueueMany: (payloads, { delayMs }) => {
      const options = delayMs > 0 ? { delay: delayMs } : {};
      return mill.enqueueMany(payloads.map((payload) => contract.of(payload, options)));
    },
    async work({ began, slots }) {
      const job = variant === "pipeline" ? pipeline(began) : contract.run(began);
      const lanes = variant === null ? (slots ?? best) : slots;
      const worker = mill.work({
        jobs: [job],
        ...(lanes === null ? {} : { lanes: { general: lanes } }),
      });
      await worker.ready;
      return () => worker.stop();
    },
    result: async (payload) => mill.result(await mill.enqueue(contract, payload)),
    serve: () => serve(mill),
    close: () => mill.close(),
  };
}

/** The last phase tells of the job: its rate is that of whole pipelines. */
function pipeline(began: WorkOptions["began"]): AnyJob {
  return contract
    .phase("first", async () => ({ pages: 12 }))
    .phase("second", async (_, ctx) => ({ pages: ctx.results.first.pages }))
    .phase("third", async (payload) => began(payload));
}

/** Loaded when it is wanted: it is no part of the start of a worker. */
async function serve(mill: Millrace): Promise<{ address: string; token: string }> {
  const { createApp } = await import("../../src/http/app.ts");
  const { listen } = await import("../../src/http/listen.ts");
  const { makeParts } = await import("../../src/http/make-parts.ts");
  const app = createApp(
    makeParts({
      mill,
      identify: { origin: { publicUrl: null, hosts: "loopback" }, ownerSecret: TOKEN },
      failed: (error) => console.error(error),
    }),
  );
  const { port } = await listen(app.fetch, { host: "127.0.0.1", port: 0 });
  return { address: `http://127.0.0.1:${port}`, token: TOKEN };
}
