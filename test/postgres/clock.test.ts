/** A process whose clock is wrong, on a server whose clock decides. */
import { Client as PgClient, Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "../../src/client/client.ts";
import type { Clock } from "../../src/core/clock.ts";
import { defaults } from "../../src/core/presets.ts";
import { defineJob, typed } from "../../src/index.ts";
import { systemClock, systemDice } from "../../src/lib/system.ts";
import { settingsOf } from "../../src/runtime/settings.ts";
import { HostProcess } from "../../src/runtime/crashes/host-process.ts";
import { JobWorker } from "../../src/runtime/worker.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";

const TEN_MINUTES = 600_000;
const DELAY_MS = 1_500;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("a worker on PostgreSQL whose clock is ten minutes off", () => {
  test.each([
    ["ahead", TEN_MINUTES],
    ["behind", -TEN_MINUTES],
  ])(
    "runs jobs when they are due by the server's, and says so once: %s",
    async (side, offsetMs) => {
      await using process = await openProcess(side, offsetMs);
      const { client, worker, job, warnings } = process;
      const later = await client.enqueue(job, 1, { delay: DELAY_MS });
      const { createdAt } = await client.jobs.get(later.id);
      await client.result(later);
      const [attempt] = await client.jobs.attempts(later.id);
      await expect.poll(() => warnings.length, { timeout: 20_000 }).toBeGreaterThan(0);
      await worker.stop();

      expect(attempt?.startedAt?.getTime()).toBeGreaterThanOrEqual(createdAt.getTime() + DELAY_MS);
      expect(warnings).toEqual([
        { message: expect.stringMatching(`(10|9) min.* ${side}`), code: "CLOCK_SKEWED" },
      ]);
    },
  );
});

describe("jobs.explain on PostgreSQL of a process whose clock is ten minutes off", () => {
  test.each([
    ["ahead", TEN_MINUTES],
    ["behind", -TEN_MINUTES],
  ])("goes by the server's clock: %s", async (side, offsetMs) => {
    await using process = await openProcess(`explain_${side}`, offsetMs);
    const { client, worker, job } = process;
    const [later, now] = [
      await client.enqueue(job, 1, { delay: "5m" }),
      await client.enqueue(job, 2),
    ];
    await client.result(now);

    expect(await client.jobs.explain(later.id)).toMatchObject({ reason: "scheduled" });
    expect(await client.workers.list()).toMatchObject([{ id: worker.id, isAlive: true }]);
  });
});

/** A process of its own, as far as its clock is concerned. */
async function openProcess(schema: string, offsetMs: number) {
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + offsetMs };
  // A pool with its own clients: no thread with the clock of this host can use it.
  class OwnClient extends PgClient {}
  const pool = new Pool({ connectionString: server.url, Client: OwnClient });
  // The server may be stopped before all of its connections have ended.
  pool.on("error", () => {});
  const store = makePostgresStore({ pool, schema });
  await store.open();
  const warnings: { message: string; code: unknown }[] = [];
  const logger = {
    debug() {},
    info() {},
    error() {},
    warn: (message: string, fields: { code?: unknown } = {}): void =>
      void warnings.push({ message, code: fields.code }),
  };
  const tenant = "default";
  const client = new Client({ store, clock, dice: systemDice, logger, tenant, preset: defaults });
  const job = defineJob({ type: "email", payload: typed<number>() }).run((number) => number);
  const settings = settingsOf({ jobs: [job] });
  const worker = new JobWorker({
    ...client.parts,
    jobDefaults: client.jobDefaults,
    settings,
    version: "0.1.0",
    process: new HostProcess(client.jobDefaults.newId()),
  });
  return {
    client,
    worker,
    job,
    warnings,
    async [Symbol.asyncDispose](): Promise<void> {
      await worker.stop();
      await store.close();
      await pool.end();
    },
  };
}
