/** A program ends by itself when it has nothing left to do. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { ended, linesOf, startChild, temporaryFolder } from "./children.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

const STORES = {
  sqlite: (folder: string) => `sqlite:${join(folder, "jobs.db")}`,
  postgres: () => server.url,
};

describe.each(["sqlite", "postgres"] as const)("a program on %s exits by itself", (kind) => {
  test("after its worker was stopped by a signal", async () => {
    using folder = temporaryFolder();
    const child = startChild("exits.child.ts", [STORES[kind](folder.path), "signal"]);

    const lines: string[] = [];
    for await (const line of linesOf(child)) {
      lines.push(line);
      child.kill("SIGTERM");
    }

    expect(await ended(child)).toBe(0);
    expect(lines).toEqual(["42"]);
  });

  test.each(["stop", "enqueue"])("after %s", async (way) => {
    using folder = temporaryFolder();

    const child = startChild("exits.child.ts", [STORES[kind](folder.path), way]);

    expect(await ended(child)).toBe(0);
  });
});
