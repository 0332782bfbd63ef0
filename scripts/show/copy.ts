/**
 * An installation with jobs in all states moves from SQLite to PostgreSQL. The copy is killed
 * twice, once before and once after the file is fenced, and run again. Then both ends are the same
 * row by row, the file takes no writes, and work goes on where it went.
 *
 *     node --conditions=source scripts/show/copy.ts [--jobs 100000]
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineJob, openMillrace, typed } from "millrace";
import type { Comparison } from "../../src/copy/compare.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import type { JobStore } from "../../src/store/store.ts";
import { fillStates, type Installation } from "../../test/support/all-states.ts";
import { newJob } from "../../test/support/factories.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { table } from "../lib/table.ts";
import { numbersFrom } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";
import { until } from "./lib/until.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const DRAIN_MS_MAX = 60_000;
const options = numbersFrom("copy.ts", { jobs: 100_000 });

await onStage(async () => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-copy-"));
  const file = join(folder, "jobs.db");
  const old = makeSqliteStore({ path: file });
  await using server = await startPostgres();
  await old.open();
  try {
    const made = await fillStates(old, options.jobs);
    console.log(`filled: ${describe(made)}`);

    const args = ["--from", `sqlite:${file}`, "--to", server.url, "-o", "json"];
    const kills = [
      await copyUntil(args, /^50 %/m),
      await copyUntil(args, /no longer accepts writes/),
    ];
    const startedAt = performance.now();
    const last = await copyUntil(args, null);
    const seconds = (performance.now() - startedAt) / 1000;
    const isCopied = show(last.out, kills.length, seconds);

    const checks = [await isFenced(old), ...(await isAlive(server.url, made))];
    return { sound: isCopied && checks.every(Boolean) };
  } finally {
    await old.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

function describe({ ids }: Installation): string {
  return Object.entries(ids)
    .map(([fate, jobs]) => `${jobs.length} ${fate}`)
    .join(", ");
}

/** Runs the program, and kills it when it says something, or lets it end. */
async function copyUntil(
  args: readonly string[],
  pattern: RegExp | null,
): Promise<{ readonly out: string; readonly code: number | null }> {
  const child = spawn(process.execPath, ["--conditions=source", MAIN, "copy", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
    process.stdout.write(chunk);
    if (pattern?.test(err) === true) child.kill("SIGKILL");
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  console.log(child.signalCode === null ? `ended with ${code}` : `killed by ${child.signalCode}`);
  return { out, code };
}

function show(out: string, kills: number, seconds: number): boolean {
  const report: { isEqual: boolean; tables: Comparison[] } = JSON.parse(out);
  const rows = report.tables.map(({ table: name, source, target, isEqual }) => {
    const hashes = [source.sha256.slice(0, 12), target.sha256.slice(0, 12)];
    const counts = [String(source.rows), String(target.rows)];
    return [name, ...counts, ...hashes, isEqual ? "equal" : "DIFFERENT"];
  });
  for (const line of table(["table", "source", "target", "hash", "hash", ""], rows)) {
    console.log(line);
  }
  console.log(`killed ${kills} times; the last run took ${seconds.toFixed(1)} s with comparison`);
  return report.isEqual && report.tables.length > 0;
}

/** A process that still has the file open cannot put anything into it. */
async function isFenced(old: JobStore): Promise<boolean> {
  const answer = await old.enqueue([newJob()]).then(() => "taken", String);
  console.log(`an old process enqueues: ${answer}`);
  return answer.includes("moved to");
}

/** A worker drains a lane, and a key that was used before still answers with its job. */
async function isAlive(url: string, { ids, keyed }: Installation): Promise<boolean[]> {
  const store = makePostgresStore({ url });
  await store.open();
  const mill = await openMillrace(url);
  try {
    let ran = 0;
    const jobs = ["email", "report", "sync"].map((type) =>
      defineJob({ type, payload: typed<unknown>() }).run(async () => {
        ran += 1;
      }),
    );
    const worker = mill.work({ jobs, lanes: { waiting: 20 } });
    const isDrained = await until("the lane is empty", DRAIN_MS_MAX, () => {
      return ran >= ids.waiting.length;
    });
    await worker.stop();
    console.log(`a worker has drained the lane “waiting” (${ran} jobs)`);
    const [again] = await store.enqueue([{ ...keyed, id: newJob().id }]);
    console.log(`the key ${keyed.idempotency?.key} answers: ${JSON.stringify(again)}`);
    return [isDrained, again?.status === "existing" && again.id === keyed.id];
  } finally {
    await mill.close();
    await store.close();
  }
}
