import { openMillrace, type AnyJob } from "millrace";
import { afterAll, beforeAll } from "vitest";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { supervisorBehaviour } from "../../support/channels/supervisors.ts";

let server: PostgresServer;
let schemas = 0;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

/** In real time: the clock is that of the server. */
supervisorBehaviour(async () => {
  const url = new URL(server.url);
  url.searchParams.set("schema", `supervisors_${(schemas += 1)}`);
  const mill = await openMillrace(url.href);
  return {
    mill,
    async finish(job, jobs: readonly AnyJob[]) {
      const worker = mill.work({ jobs, poll: 100 });
      await mill.wait(job, { timeout: "60s" });
      await worker.stop();
      return mill.jobs.get(job.id);
    },
    [Symbol.asyncDispose]: () => mill.close(),
  };
});
