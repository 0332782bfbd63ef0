/**
 * An operation reprocesses `--letters` dead letters. The process that runs it is killed in the
 * middle, `--kills` times; another one continues. Each letter has one successor, and one item of
 * the operation.
 *
 *     node --conditions=source scripts/show/bulk-kill.ts [--store postgres] [--letters 100000]
 *
 * Then other jobs are claimed while an operation with the default rate runs, and while none runs,
 * in turns: what an operation costs the claims beside it.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CHUNK_DEFAULT, RATE_DEFAULT } from "../../src/core/control/bulk.ts";
import type { JobStore } from "../../src/store/store.ts";
import type { OperationRecord } from "../../src/store/types/operations.ts";
import { completed, newJob, newOperation } from "../../test/support/factories.ts";
import { joinWorker, settleAll, take } from "../../test/support/steps.ts";
import { countItems, countSuccessors, LONG, makeLetters } from "./lib/bulk/letters.ts";
import { openStore, Places } from "./lib/databases.ts";
import { startChild, type Child } from "./lib/fleet/children.ts";
import { numbersAndStores, type StoreKind } from "./lib/options.ts";
import { percentile } from "./lib/percentile.ts";
import { onStage } from "./lib/run-stages.ts";

const options = numbersAndStores("bulk-kill.ts", {
  letters: 100_000,
  kills: 5,
  rate: 5_000,
  turns: 6,
  seconds: 4,
  pace: RATE_DEFAULT,
  chunk: CHUNK_DEFAULT,
});
const RUNNER = new URL("lib/bulk/runner.child.ts", import.meta.url);
const PROBE_EVERY_MS = 10;
const LOOK_MS = 50;
/** What a claim may take longer beside an operation. */
const RATIO_MAX = 1.2;

await onStage(async () => {
  let sound = true;
  for (const kind of options.stores) {
    await using places = await Places.open(kind, { durable: true });
    const findings = [...(await showKills(kind, places)), ...(await showCost(kind, places))];
    for (const finding of findings) console.log(`  ${finding}`);
    sound &&= findings.length === 0;
  }
  return { sound };
});

async function showKills(kind: StoreKind, places: Places): Promise<readonly string[]> {
  const url = places.next();
  const store = await openStore(url);
  const { letters, kills, rate } = options;
  await makeLetters(store, "pay", letters);
  const plan = { action: "reprocess", deadLetters: { type: "pay" } } as const;
  const { id } = await store.startOperation(newOperation(plan, { rate, chunk: options.chunk }));
  const began = performance.now();
  const killed = await killAlong(store, id, { url, log: join(places.folder, "runners.log") });
  const ended = await store.operation(id);
  const seconds = (performance.now() - began) / 1_000;
  const { jobs, doubled } = await countSuccessors(store, "pay");
  const counted = await countItems(store, id);
  await store.close();
  console.log(
    `${kind}: ${letters} letters, ${killed} kills, ${seconds.toFixed(1)} s: ${ended?.status}, ` +
      `${ended?.done} done, ${counted.items} items of ${counted.letters} letters, ` +
      `${jobs} successors, ${doubled} doubled`,
  );
  return [
    ...(ended?.status === "completed" ? [] : [`the operation is ${ended?.status}`]),
    ...(ended?.done === letters && ended.items === letters ? [] : ["wrong counts"]),
    ...(counted.items === letters && counted.letters === letters ? [] : ["wrong items"]),
    ...(jobs === letters && doubled === 0 ? [] : ["wrong successors"]),
    ...(killed >= kills ? [] : [`only ${killed} kills`]),
  ];
}

/** Kills the runner after each part of the letters. Another process waits to continue. */
async function killAlong(
  store: JobStore,
  id: string,
  settings: { readonly url: string; readonly log: string },
): Promise<number> {
  const start = (): Child =>
    startChild({ program: RUNNER, settings: { url: settings.url }, log: settings.log });
  const part = options.letters / (options.kills + 1);
  let runners = [start(), start()];
  await Promise.all(runners.map(({ ready }) => ready));
  let killed = 0;
  for (;;) {
    await sleep(LOOK_MS);
    const operation = await store.operation(id);
    if (operation === null || operation.finishedAt !== null) break;
    if (killed >= options.kills || operation.items < part * (killed + 1)) continue;
    // Which of both runs the operation is not known: both die, and two others begin.
    for (const runner of runners) runner.kill("SIGKILL");
    await Promise.all(runners.map(({ ended }) => ended));
    killed += 1;
    runners = [start(), start()];
  }
  for (const runner of runners) runner.kill("SIGKILL");
  return killed;
}

async function showCost(kind: StoreKind, places: Places): Promise<readonly string[]> {
  const url = places.next();
  const store = await openStore(url);
  const { turns, seconds } = options;
  const each = Math.ceil(options.pace * (seconds + 2));
  for (let turn = 0; turn < turns; turn += 1) await makeLetters(store, `pay-${turn}`, each);
  const log = join(places.folder, "runners.log");
  const runner = startChild({ program: RUNNER, settings: { url }, log });
  await runner.ready;
  const [beside, alone]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < turns; turn += 1) {
    alone.push(...(await claimTimes(store, seconds)));
    const operation = await begin(store, turn);
    beside.push(...(await claimTimes(store, seconds)));
    await store.stopOperation(operation.id, "show");
  }
  runner.kill("SIGKILL");
  await store.close();
  const words = (times: readonly number[]): string =>
    `p50 ${percentile(times, 0.5).toFixed(2)}, mean ${mean(times).toFixed(2)}, ` +
    `p95 ${percentile(times, 0.95).toFixed(2)} ms of ${times.length}`;
  const ratio = percentile(beside, 0.5) / percentile(alone, 0.5);
  console.log(`  claims alone: ${words(alone)}`);
  console.log(`  claims beside an operation at ${options.pace}/s: ${words(beside)}`);
  console.log(
    `  ratio p50 ${ratio.toFixed(2)}, mean ${(mean(beside) / mean(alone)).toFixed(2)}, ` +
      `p95 ${(percentile(beside, 0.95) / percentile(alone, 0.95)).toFixed(2)}`,
  );
  return ratio <= RATIO_MAX ? [] : [`the median claim takes ${ratio.toFixed(2)} times as long`];
}

/** Starts an operation on the letters of one turn, and waits until it goes. */
async function begin(store: JobStore, turn: number): Promise<OperationRecord> {
  const plan = { action: "reprocess", deadLetters: { type: `pay-${turn}` } } as const;
  const pace = { rate: options.pace, chunk: options.chunk };
  const operation = await store.startOperation(newOperation(plan, pace));
  while (((await store.operation(operation.id))?.items ?? 0) < options.pace) await sleep(LOOK_MS);
  return operation;
}

/** How long the claims of a job take that was just enqueued. */
async function claimTimes(store: JobStore, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const worker = await joinWorker(store, LONG);
  const until = performance.now() + seconds * 1_000;
  while (performance.now() < until) {
    await store.enqueue([newJob({ type: "probe", lane: "probes" })]);
    const since = performance.now();
    const batch = await take(store, { worker, types: ["probe"], lanes: ["probes"], limit: 1 });
    times.push(performance.now() - since);
    await settleAll(store, batch, completed());
    await sleep(PROBE_EVERY_MS);
  }
  return times;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
