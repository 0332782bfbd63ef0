import { execFile } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { ended, linesOf, startChild, temporaryFolder } from "./children.ts";

const run = promisify(execFile);
const SHOW = join(import.meta.dirname, "..", "..", "scripts", "show");

describe("several processes on one file", () => {
  test("claim every job once and never see a busy database (004-03)", async () => {
    const args = [join(SHOW, "four-processes.ts"), "--jobs", "3000", "--processes", "3"];

    const { stdout } = await run(process.execPath, args);

    expect(stdout).toContain("twice 0, lost 0, stale 0, errors seen 0");
  });

  test("wake each other", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "jobs.db");
    const store = makeSqliteStore({ path });
    await store.open();
    const woken = new Promise<void>((resolve) => store.watch(() => resolve()));

    const child = startChild("producer.child.ts", [path, "10", "1"]);

    await woken;
    expect(await ended(child)).toBe(0);
    await store.close();
  });
});

describe("two processes with the same schedule, and a third that is killed (000-54)", () => {
  test.each(["sqlite", "postgres"])("make one job per slot on %s", async (store) => {
    const script = join(SHOW, "cron-processes.ts");
    const args = ["--conditions=source", script, "--seconds", "3", "--store", store];

    const { stdout } = await run(process.execPath, args);

    expect(stdout).toMatch(/^\w+: (\d+) seconds, \1 jobs, 2 processes, [1-9]\d* kills, 0 differ/);
  });
});

describe("a process that is killed with kill -9 while it enqueues", () => {
  test("leaves every acknowledged job behind, and a sound file", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "jobs.db");
    const acked: string[] = [];
    // Each round dies at another moment: after so many acknowledgements.
    for (const round of [1, 7, 40, 120]) {
      const child = startChild("producer.child.ts", [path, "200"]);
      let seen = 0;
      for await (const line of linesOf(child)) {
        acked.push(line.replace("acked ", ""));
        seen += 1;
        if (seen === round) child.kill("SIGKILL");
      }
      expect(await ended(child)).toBe("SIGKILL");
    }

    const store = makeSqliteStore({ path });
    await store.open();
    const found = await Promise.all(acked.map((id) => store.get(id)));
    await store.close();
    expect(found.every((job) => job?.state === "queued")).toBe(true);
    expect(acked.length).toBeGreaterThanOrEqual(168);
    expect(integrityOf(path)).toBe("ok");
  });
});

function integrityOf(path: string): unknown {
  const database = new DatabaseSync(path);
  const verdict = database.prepare("PRAGMA integrity_check").get()?.["integrity_check"];
  database.close();
  return verdict;
}
