import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { ended, linesOf, startChild, temporaryFolder } from "./children.ts";

const run = promisify(execFile);
const SHOW = join(import.meta.dirname, "..", "..", "scripts", "show");
const hasStrace = spawnSync("strace", ["-V"]).error === undefined;

describe("an acknowledged enqueue", () => {
  test("was synced before its answer, and others share the sync (001-02)", async (context) => {
    if (!hasStrace) context.skip("strace is not installed");

    const { stdout } = await run(process.execPath, [join(SHOW, "durability.ts")]);

    expect(stdout).toContain("20 enqueues one by one: 20 synced before their answer");
    expect(stdout).toMatch(/50 overlapping enqueues: [1-9] syncs in all/);
  });
});

describe("a disk that fails while jobs are enqueued", () => {
  test("when full, refuses with STORE_FULL and keeps what it acknowledged", async (context) => {
    if (!hasStrace) context.skip("strace is not installed");
    await expectFailure("pwrite64:error=ENOSPC:when=60+", "STORE_FULL");
  });

  test("when a sync fails, refuses with STORE_FAILED and keeps its word", async (context) => {
    if (!hasStrace) context.skip("strace is not installed");
    await expectFailure("fsync:error=EIO:when=20+", "STORE_FAILED");
  });
});

/** Runs the producer under strace, which makes the named system call fail from the n-th on. */
async function expectFailure(injection: string, code: string): Promise<void> {
  using folder = temporaryFolder();
  const path = join(folder.path, "jobs.db");
  // Made before, so that nothing but jobs is written while the disk fails.
  const prepared = makeSqliteStore({ path });
  await prepared.open();
  await prepared.close();
  const calls = "trace=pwrite64,fsync,fdatasync";
  const prefix = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", calls];
  const child = startChild("producer.child.ts", [path, "200"], {
    prefix: [...prefix, "-e", `inject=${injection}`],
  });
  const lines: string[] = [];
  for await (const line of linesOf(child)) lines.push(line);
  await ended(child);

  expect(lines.at(-1)).toBe(`refused ${code}`);
  const acked = lines.filter((line) => line.startsWith("acked ")).map((line) => line.slice(6));
  expect(acked.length).toBeGreaterThan(0);

  const store = makeSqliteStore({ path });
  await store.open();
  const found = await Promise.all(acked.map((id) => store.get(id)));
  await store.close();
  expect(found.every((job) => job?.state === "queued")).toBe(true);
}
