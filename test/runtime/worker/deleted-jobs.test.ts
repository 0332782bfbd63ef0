/** Rows of the table job that are changed by hand while their jobs run, in a real file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { defineJob, openMillrace, typed } from "millrace";
import { expect, test } from "vitest";
import { latch } from "../support.ts";

const LATER = "2100-01-01T00:00:00Z";

async function openFile() {
  const folder = mkdtempSync(join(tmpdir(), "millrace-"));
  const path = join(folder, "millrace.db");
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const logger = { debug: () => {}, info: () => {}, warn: log, error: log };
  const mill = await openMillrace(`sqlite:${path}`, { logger });
  return {
    mill,
    logged,
    run(sql: string): void {
      using database = new DatabaseSync(path, { timeout: 5_000 });
      database.exec(sql);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await mill.close();
      rmSync(folder, { recursive: true });
    },
  };
}

test("a job that was deleted while it ran is logged once, and its neighbours end", async () => {
  await using file = await openFile();
  const { mill, logged } = file;
  const end = latch();
  const begun = latch();
  let running = 0;
  const slow = defineJob({ type: "slow", payload: typed<number>() }).run(async (number) => {
    running += 1;
    if (running === 3) begun.open();
    await end.passed;
    return number;
  });
  const jobs = await mill.enqueueMany([1, 2, 3].map((number) => slow.of(number)));
  mill.work({ jobs: [slow], lanes: { general: 3 }, signals: false });
  await begun.passed;

  file.run("DELETE FROM millrace_job WHERE key = 2");
  end.open();

  expect(await mill.result(jobs[0]!)).toBe(1);
  expect(await mill.result(jobs[2]!)).toBe(3);
  expect(logged.filter((line) => line.includes("while it ran"))).toHaveLength(1);
});

test("a job with another type than its place says fails, and its neighbours run", async () => {
  await using file = await openFile();
  const { mill, logged } = file;
  const echo = defineJob({ type: "echo", payload: typed<number>() }).run((number) => number);
  const other = defineJob({ type: "other" }).run(() => null);
  const options = { runAt: new Date(LATER) };
  await mill.enqueue(other, undefined, options);
  const jobs = await mill.enqueueMany([1, 2, 3].map((number) => echo.of(number)));
  file.run(`UPDATE millrace_job SET type = (SELECT min(type) FROM millrace_job WHERE key = 1)
            WHERE key = 3`);

  mill.work({ jobs: [echo], lanes: { general: 3 }, signals: false });

  expect(await mill.result(jobs[0]!)).toBe(1);
  expect(await mill.result(jobs[2]!)).toBe(3);
  expect(await mill.wait(jobs[1]!)).toMatchObject({ state: "failed" });
  expect(logged).toContainEqual(expect.stringContaining("names another type than"));
});
