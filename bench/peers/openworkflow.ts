/**
 * OpenWorkflow on SQLite or PostgreSQL. It claims run by run, has no bulk call, and polls at
 * intervals of its own that grow from 100 ms. Best settings: as many slots as help, see below. The
 * variant `pipeline` has three steps.
 */
import { OpenWorkflow } from "openworkflow";
import { BackendPostgres } from "openworkflow/postgres";
import { BackendSqlite } from "openworkflow/sqlite";
import type { Payload, System, WorkOptions } from "../contestants/system.ts";

const SLOTS = 20;

export async function open(url: string, variant: string | null): Promise<System> {
  const isFile = url.startsWith("sqlite:");
  const backend = isFile
    ? BackendSqlite.connect(url.slice("sqlite:".length))
    : await BackendPostgres.connect(url);
  const client = new OpenWorkflow({ backend });
  let began: WorkOptions["began"] = () => {};
  const email = client.defineWorkflow<Payload>({ name: "email" }, async ({ input, step }) => {
    if (variant !== "pipeline") return began(input);
    const { pages } = await step.run({ name: "first" }, async () => ({ pages: 12 }));
    await step.run({ name: "second" }, async () => ({ pages }));
    return step.run({ name: "third" }, async () => began(input));
  });
  return {
    enqueue: (payload) => email.run(payload),
    async work(options) {
      began = options.began;
      const worker = client.newWorker({ concurrency: options.slots ?? SLOTS });
      await worker.start();
      return () => worker.stop();
    },
    close: () => backend.stop(),
  };
}
