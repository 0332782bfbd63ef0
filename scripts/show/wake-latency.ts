/**
 * A trickle of jobs: from the call of `enqueue` to the start of the handler in another process
 * (P20), and from the call of `enqueue` to the answer of `mill.result` (P21).
 *
 *     node --conditions=source scripts/show/wake-latency.ts [--store postgres] [--jobs 200]
 *
 * The producer sends `--rate` jobs a second, at irregular intervals. The server of PostgreSQL waits
 * for its disk.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { defineJob, openMillrace, typed, type Millrace } from "millrace";
import { table } from "../lib/table.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores } from "./lib/options.ts";
import { percentile } from "./lib/percentile.ts";

const options = numbersAndStores("wake-latency.ts", { jobs: 200, rate: 20 });
const PROGRAM = fileURLToPath(new URL("lib/wake/wake-latency.child.ts", import.meta.url));
const WARM_UP_JOBS = 20;

const timed = defineJob({ type: "timed", payload: typed<number>() });

interface Started {
  readonly number: number;
  readonly startedAt: number;
}

const rows: string[][] = [];
for (const kind of options.stores) {
  await using places = await Places.open(kind, { durable: true });
  const url = places.next();
  await using mill = await openMillrace(url);
  await using worker = await startWorker(url);
  await startsOf(mill, worker.child, WARM_UP_JOBS);
  rows.push(rowOf(kind, "enqueue → start", await startsOf(mill, worker.child, options.jobs)));
  await resultsOf(mill, WARM_UP_JOBS);
  rows.push(rowOf(kind, "enqueue → result", await resultsOf(mill, options.jobs)));
}
for (const line of table(["store", "from → to", "jobs", "p50 ms", "p99 ms"], rows)) {
  console.log(line);
}

async function startWorker(url: string): Promise<AsyncDisposable & { child: ChildProcess }> {
  const child = fork(PROGRAM, [url], { execArgv: ["--conditions=source"] });
  await once(child, "message");
  return {
    child,
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

/** Milliseconds from `enqueue` to the start of the handler. */
async function startsOf(
  mill: Millrace,
  child: ChildProcess,
  jobs: number,
): Promise<readonly number[]> {
  const sentAt: number[] = [];
  const starts: number[] = [];
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const onStart = ({ number, startedAt }: Started): void => {
    starts.push(startedAt - sentAt[number]!);
    if (starts.length === jobs) resolve();
  };
  child.on("message", onStart);
  for (let number = 0; number < jobs; number += 1) {
    sentAt[number] = now();
    await mill.enqueue(timed, number);
    await sleep(intervalMs());
  }
  await done;
  child.off("message", onStart);
  return starts;
}

/** Milliseconds from `enqueue` to the answer of `result`. */
async function resultsOf(mill: Millrace, jobs: number): Promise<readonly number[]> {
  const results: Promise<number>[] = [];
  for (let number = 0; number < jobs; number += 1) {
    results.push(resultOf(mill, number));
    await sleep(intervalMs());
  }
  return Promise.all(results);
}

async function resultOf(mill: Millrace, number: number): Promise<number> {
  const sentAt = now();
  await mill.result(await mill.enqueue(timed, number));
  return now() - sentAt;
}

function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Irregular, so that the trickle does not keep step with a poll. */
function intervalMs(): number {
  return (1_000 / options.rate) * (0.5 + Math.random());
}

function rowOf(store: string, what: string, values: readonly number[]): string[] {
  const figures = [0.5, 0.99].map((share) => percentile(values, share).toFixed(1));
  return [store, what, String(values.length), ...figures];
}
