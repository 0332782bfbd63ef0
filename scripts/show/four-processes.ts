/**
 * Four processes claim 20,000 jobs from one file: none twice, none lost, no busy error seen by a
 * caller.
 *
 *     node scripts/show/four-processes.ts [--jobs 20000] [--processes 4]
 *
 * Every process also enqueues its share while the others claim, so that all of them write at once.
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { newId } from "../../src/core/ids.ts";
import { systemClock, systemDice } from "../../src/lib/system.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import type { JobStore } from "../../src/store/store.ts";
import { completed, newJobs, workerInfo } from "../../test/support/factories.ts";

const BATCH = 50;

interface Report {
  readonly enqueued: readonly string[];
  readonly claimed: readonly string[];
  readonly stale: number;
  readonly errors: readonly string[];
}

if (process.send === undefined) await parent();
else await child();

async function parent(): Promise<void> {
  const { values } = parseArgs({
    options: {
      jobs: { type: "string", default: "20000" },
      processes: { type: "string", default: "4" },
    },
  });
  const processes = Number(values.processes);
  const share = Math.floor(Number(values.jobs) / processes);
  const folder = mkdtempSync(join(tmpdir(), "millrace-processes-"));
  const began = performance.now();
  const path = join(folder, "jobs.db");
  const reports = await Promise.all(
    Array.from({ length: processes }, (_, seat) => runChild([path, String(share), String(seat)])),
  );
  const seconds = (performance.now() - began) / 1000;
  const store = makeSqliteStore({ path });
  await store.open();
  const left = (await store.count({ states: ["scheduled", "queued", "running"] }, 1_000_000)).count;
  const done = (await store.count({ states: ["completed"] }, 1_000_000)).count;
  await store.close();
  rmSync(folder, { recursive: true });
  judge(reports, { done, left, seconds });
}

function judge(
  reports: readonly Report[],
  { done, left, seconds }: { done: number; left: number; seconds: number },
): void {
  const enqueued = new Set(reports.flatMap((each) => each.enqueued));
  const claimed = reports.flatMap((each) => each.claimed);
  const twice = claimed.length - new Set(claimed).size;
  const seen = new Set(claimed);
  const lost = [...enqueued].filter((id) => !seen.has(id)).length;
  const errors = reports.flatMap((each) => each.errors);
  const stale = reports.reduce((sum, each) => sum + each.stale, 0);
  const shares = reports.map((each) => each.claimed.length).join(" + ");
  console.log(`${reports.length} processes, ${enqueued.size} jobs, ${seconds.toFixed(1)} s`);
  console.log(`claimed ${claimed.length} (${shares}), completed ${done}, left ${left}`);
  console.log(`twice ${twice}, lost ${lost}, stale ${stale}, errors seen ${errors.length}`);
  for (const error of errors.slice(0, 5)) console.log(error);
  const sound = twice + lost + stale + left + errors.length === 0 && done === enqueued.size;
  if (!sound) process.exitCode = 1;
}

function runChild(args: readonly string[]): Promise<Report> {
  return new Promise((resolve, reject) => {
    const seat = fork(import.meta.filename, [...args]);
    let told: Report | null = null;
    seat.on("message", (message: any) => {
      told = message;
    });
    seat.on("exit", (code) => {
      if (told === null) reject(new Error(`a process ended with ${code} and no report`));
      else resolve(told);
    });
  });
}

async function child(): Promise<void> {
  const [path = "", share = "0"] = process.argv.slice(2);
  const store = makeSqliteStore({ path });
  await store.open();
  const enqueued: string[] = [];
  const claimed: string[] = [];
  const errors: string[] = [];
  let stale = 0;
  const [produced, consumed] = await Promise.allSettled([
    produce(store, Number(share), enqueued),
    consume(store, claimed),
  ]);
  if (produced.status === "rejected") errors.push(String(produced.reason));
  if (consumed.status === "rejected") errors.push(String(consumed.reason));
  else stale = consumed.value;
  await store.close();
  const report: Report = { enqueued, claimed, stale, errors };
  process.send?.(report, () => process.disconnect());
}

async function produce(store: JobStore, share: number, enqueued: string[]): Promise<void> {
  for (let made = 0; made < share; made += BATCH) {
    // The ids of the test factory are the same in every process; these must not be.
    const jobs = newJobs(BATCH).map((job) => ({ ...job, id: anId() }));
    await store.enqueue(jobs);
    enqueued.push(...jobs.map(({ id }) => id));
  }
}

/** Claims and settles until nothing has come for a second. Answers how many settles were stale. */
async function consume(store: JobStore, claimed: string[]): Promise<number> {
  const worker = anId();
  await store.register(workerInfo({ id: worker, pid: process.pid, leaseMs: 60_000 }));
  let stale = 0;
  for (let emptyRounds = 0; emptyRounds < 40; emptyRounds += 1) {
    const { lease, jobs } = await store.claim({
      worker,
      lanes: "any",
      limit: BATCH,
      prefetch: false,
    });
    if (lease === null) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      continue;
    }
    emptyRounds = 0;
    const items = jobs.map(({ key, n }) => ({ lease, key, n, settlement: completed() }));
    const answers = await store.settle(items);
    stale += answers.filter((answer) => answer === "stale").length;
    claimed.push(...jobs.map(({ id }) => id));
  }
  return stale;
}

function anId(): string {
  return newId(systemClock.now(), systemDice);
}
