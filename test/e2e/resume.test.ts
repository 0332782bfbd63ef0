/** A pause that ends in one process ends in all others, without a poll. */
import { join } from "node:path";
import { defineJob, openMillrace } from "millrace";
import { postgresStore } from "millrace/postgres";
import { sqliteStore } from "millrace/sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { temporaryFolder } from "./children.ts";
import { testLogger } from "../support/logger.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

const report = defineJob({ type: "report" }).run(() => "written");

/** As in two processes: each store has its own connections. */
const STORES: Readonly<Record<string, (folder: string) => Store>> = {
  sqlite: (folder) => sqliteStore({ path: join(folder, "jobs.db") }),
  postgres: () => postgresStore({ url: server.url, schema: "resume" }),
};

test.each(["sqlite", "postgres"])(
  "a resume reaches other processes at once on %s",
  async (kind) => {
    using folder = temporaryFolder();
    const open = STORES[kind]!;
    await using operator = await openMillrace(open(folder.path), { logger: testLogger });
    await using other = await openMillrace(open(folder.path), { logger: testLogger });
    await operator.pause({ type: "report" }, "maintenance");
    const jobs = await operator.enqueueMany(Array.from({ length: 20 }, () => report.of()));
    const worker = other.work({ jobs: [report], poll: "1h" });
    await worker.ready;
    while ((await operator.jobs.stats()).held < jobs.length) await new Promise(setImmediate);

    await operator.resume({ type: "report" });

    const ends = await Promise.all(jobs.map((job) => operator.wait(job)));
    expect(ends.map(({ state }) => state)).toEqual(jobs.map(() => "completed"));
  },
);
