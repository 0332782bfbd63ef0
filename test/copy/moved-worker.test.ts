/** What a worker does whose installation moves away under it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineJob, openMillrace } from "millrace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommandLine } from "../../src/cli/program.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { add } from "../support/steps.ts";
import { Ends } from "./ends.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("a worker whose installation has moved", () => {
  test("says so once, stops, and gives the reason", async () => {
    await using ends = await Ends.open(server);
    const said: string[] = [];
    const say = (message: string): void => void said.push(message);
    const logger = { debug() {}, info() {}, warn: say, error: say };
    const mill = await openMillrace(`sqlite:${ends.file}`, { logger });
    const job = defineJob({ type: "job" }).run(() => "done");
    const worker = mill.work({ jobs: [job], signals: false });
    const other = mill.work({ jobs: [job], signals: false });
    await Promise.all([worker.ready, other.ready]);
    await other.stop();
    expect(await other.ended).toBe(null);

    await ends.copy();
    const reason = await worker.ended;

    expect(reason).toMatchObject({
      code: "STORE_MOVED",
      details: { to: `the schema ${ends.schema}` },
    });
    expect(said).toEqual([`${reason?.message}; the worker stops`]);
    await mill.close();
  });

  test("says nothing of lost leases when its runs end after the move", async () => {
    await using ends = await Ends.open(server);
    const said: string[] = [];
    const say = (message: string): void => void said.push(message);
    const logger = { debug() {}, info() {}, warn: say, error: say };
    const mill = await openMillrace(`sqlite:${ends.file}`, { logger });
    const [begun, moved] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const job = defineJob({ type: "job" }).run(async () => {
      begun.resolve();
      await moved.promise;
    });
    await mill.enqueue(job);
    const worker = mill.work({ jobs: [job], signals: false });
    await begun.promise;

    await ends.copy();
    moved.resolve();
    const reason = await worker.ended;

    expect(reason).toMatchObject({ code: "STORE_MOVED" });
    expect(said).toEqual([`${reason?.message}; the worker stops`]);
    await mill.close();
  });

  test("ends its command with 5", async () => {
    await using ends = await Ends.open(server);
    await add(ends.old, {});
    const file = join(ends.folder, "jobs.mjs");
    const source = new URL("../../src/index.ts", import.meta.url).href;
    await writeFile(
      file,
      `import { defineJob } from ${JSON.stringify(source)};\n` +
        `export const job = defineJob({ type: "other" }).run(() => "done");\n`,
    );
    const running = Promise.withResolvers<void>();
    let err = "";
    const exit = runCommandLine(["worker", "--jobs", file, "--db", `sqlite:${ends.file}`], {
      out: () => {},
      err: (text) => {
        err += text;
        if (/worker \w+ runs other/.test(err)) running.resolve();
      },
    });
    await Promise.race([running.promise, exit]);

    await ends.copy();

    expect(await exit).toBe(5);
    expect(err.split("moved to")).toHaveLength(2);
    expect(err).not.toMatch(/^ +at /m);
  });
});
