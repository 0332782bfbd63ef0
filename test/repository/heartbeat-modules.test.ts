/** The modules of the heartbeat thread: real threads on both stores, listed by Node. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { threadModules } from "../../scripts/show/lib/heartbeat/measure-thread.ts";
import { startPostgres } from "../support/postgres.ts";
import { temporaryFolder } from "../e2e/children.ts";

const PATIENCE_MS = 60_000;
/** The thread of SQLite has 90 modules, the one of PostgreSQL 94. */
const MODULES_MAX = 112;
/** A beat needs neither the engine around it nor the verbs of others. */
const NOT_NEEDED = [
  /^src\/(api|cli|client|http|jobs|testing)\//,
  /^src\/runtime\/(lanes|maintenance|notes)\//,
  /^src\/runtime\/run\/execution\.ts$/,
  /^src\/store\/\w+\/(copy|doctor|retention|transactions|store\.ts$)/,
  /migrations\.gen|database\/migrate/,
  /\/zod\//,
];

test(
  "the heartbeat thread loads what a beat needs on SQLite (P24, P25)",
  async () => {
    using folder = temporaryFolder();

    expectFew(await threadModules(`sqlite:${join(folder.path, "jobs.db")}`, "src"));
  },
  PATIENCE_MS,
);

test(
  "the heartbeat thread loads what a beat needs on PostgreSQL (P24, P25)",
  async () => {
    await using server = await startPostgres({ durable: false });

    expectFew(await threadModules(server.url, "src"));
  },
  PATIENCE_MS,
);

function expectFew(modules: readonly string[]): void {
  expect(modules).toContain("src/runtime/lease/heartbeat-thread.ts");
  expect(modules.filter((path) => NOT_NEEDED.some((each) => each.test(path)))).toEqual([]);
  expect(modules.filter((path) => path.startsWith("src/")).length).toBeLessThan(MODULES_MAX);
}
