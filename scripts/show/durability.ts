/**
 * Shows that an acknowledged enqueue was synced, and that overlapping enqueues share commits.
 *
 *     node scripts/show/durability.ts
 *
 * Runs a child under `strace -f` that prints a mark on its own file descriptor before each call and
 * after each answer; between the two an fsync or fdatasync must stand in the trace.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SINGLES = 20;
const OVERLAPPING = 50;

if (process.argv[2] === "child") await child(process.argv[3] ?? "");
else show();

function show(): void {
  if (spawnSync("strace", ["-V"]).error !== undefined) {
    console.log("not shown: strace is not installed");
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "millrace-durability-"));
  const trace = join(folder, "trace");
  const strace = ["-f", "-e", "trace=fsync,fdatasync,write", "-s", "40", "-o", trace];
  const node = [process.execPath, import.meta.filename, "child", join(folder, "jobs.db")];
  const { status, stderr } = spawnSync("strace", [...strace, ...node], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the child ended with ${status}: ${stderr}`);

  const lines = readFileSync(trace, "utf8").split("\n");
  rmSync(folder, { recursive: true });
  const singles = Array.from({ length: SINGLES }, (_, index) => syncsOf(lines, `single ${index}`));
  const unsynced = singles.filter((syncs) => syncs === 0).length;
  const shared = syncsOf(lines, "overlapping");
  console.log(`${SINGLES} enqueues one by one: ${SINGLES - unsynced} synced before their answer`);
  console.log(`${OVERLAPPING} overlapping enqueues: ${shared} syncs in all`);
  if (unsynced > 0 || shared === 0 || shared >= OVERLAPPING) process.exitCode = 1;
}

/** Syncs between the marks `<name> asked` and `<name> answered`. */
function syncsOf(lines: readonly string[], name: string): number {
  const asked = lines.findIndex((line) => line.includes(`"${name} asked`));
  const answered = lines.findIndex((line) => line.includes(`"${name} answered`));
  if (asked === -1 || answered === -1) throw new Error(`no marks for ${name} in the trace`);
  return lines.slice(asked, answered).filter((line) => /\bf(data)?sync\(/.test(line)).length;
}

async function child(path: string): Promise<void> {
  const { writeSync } = await import("node:fs");
  const { makeSqliteStore } = await import("../../src/store/sqlite/create.ts");
  const { newJob, newJobs } = await import("../../test/support/factories.ts");
  const mark = (text: string): void => void writeSync(1, `${text}\n`);
  const store = makeSqliteStore({ path });
  await store.open();
  await store.enqueue([newJob()]);

  for (let index = 0; index < SINGLES; index += 1) {
    const job = newJob();
    mark(`single ${index} asked`);
    await store.enqueue([job]);
    mark(`single ${index} answered`);
  }
  const jobs = newJobs(OVERLAPPING);
  mark("overlapping asked");
  await Promise.all(jobs.map((job) => store.enqueue([job])));
  mark("overlapping answered");
  await store.close();
}
