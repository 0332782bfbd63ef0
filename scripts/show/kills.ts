/**
 * Worker processes share jobs with side effects while one of them is killed at random again and
 * again: nothing is lost, and every second start is a takeover from a dead worker.
 *
 *     node --conditions=source scripts/show/kills.ts --kill-every 300 --seconds 60
 *
 * With `--kill-every 0`, the default, no worker is killed and nothing may start twice. Lengths are
 * in milliseconds; `--seconds` is how long jobs keep coming while workers die.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { seededDice } from "../../test/support/seeded-dice.ts";
import type { Verdict } from "./lib/check/check.ts";
import { CRASH_CAP, crashesOf, diedOfCrashes } from "./lib/check/crashes.ts";
import { Fleet } from "./lib/fleet/fleet.ts";
import type { Ending, Order } from "./lib/fleet/fleet.ts";
import { numbersFrom } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";
import { waiting } from "./lib/fleet/task.ts";
import { linesOf } from "./lib/check/verdict.ts";

const options = numbersFrom("kills.ts", {
  workers: 4,
  jobs: 5000,
  "kill-every": 0,
  seconds: 60,
  seed: 1,
  lease: 1000,
});
const dice = seededDice(options.seed);
const EFFECT_MS_MAX = 100;
const PORTION_MS = 100;

await onStage(async () => {
  await using fleet = await Fleet.open({
    name: "kills",
    workers: options.workers,
    work: { lanes: { general: 5 }, lease: options.lease, poll: 100 },
  });
  const began = performance.now();
  const [, killed] = await Promise.all([produce(fleet), killAtRandom(fleet)]);
  await fleet.drain();
  const seconds = (performance.now() - began) / 1000;

  const ending = await fleet.finish();
  const isExplained = reportSecondStarts(ending, killed, seconds);
  const isCapped = reportCrashes(fleet, ending);
  const sound = ending.findings.length === 0 && isExplained && isCapped;
  if (!sound) fleet.keep();
  return { sound };
});

/** All jobs at once, or spread over the time of the killing, so that every kill meets some. */
async function produce(fleet: Fleet): Promise<void> {
  const portions = options["kill-every"] === 0 ? 1 : (options.seconds * 1000) / PORTION_MS;
  const began = performance.now();
  for (let sent = 0, portion = 1; sent < options.jobs; portion += 1) {
    const target = Math.min(options.jobs, Math.ceil((options.jobs * portion) / portions));
    await fleet.place(Array.from({ length: target - sent }, makeOrder));
    sent = target;
    await sleep(Math.max(0, began + portion * PORTION_MS - performance.now()));
  }
}

function makeOrder(): Order {
  return { act: waiting(Math.ceil(dice.random() * EFFECT_MS_MAX)) };
}

/** Each victim has a successor at once. Answers when each of the dead was killed. */
async function killAtRandom(fleet: Fleet): Promise<ReadonlyMap<number, number>> {
  const killed = new Map<number, number>();
  const every = options["kill-every"];
  const kills = every === 0 ? 0 : Math.floor((options.seconds * 1000) / every);
  for (let count = 0; count < kills; count += 1) {
    await sleep(every);
    const seat = Math.floor(dice.random() * fleet.workers.length);
    const victim = fleet.workers[seat]!;
    fleet.kill(victim);
    killed.set(victim.pid, Date.now());
    fleet.workers[seat] = fleet.startWorker();
  }
  return killed;
}

/**
 * True when every second start followed the death of the worker before. A worker that was starved
 * beyond its lease while it lived loses its runs as well: that is safe, but not what is claimed.
 */
function reportSecondStarts(
  verdict: Verdict,
  killed: ReadonlyMap<number, number>,
  seconds: number,
): boolean {
  const unexplained = verdict.successions.filter(
    ({ from, to }) => (killed.get(from.pid) ?? Number.POSITIVE_INFINITY) > to.startedAt,
  );
  console.log(
    `${options.workers} workers, ${options.jobs} jobs, ${killed.size} kills, ` +
      `seed ${options.seed}, ${seconds.toFixed(1)} s`,
  );
  for (const line of linesOf(verdict)) console.log(line);
  console.log(`second starts after a worker that was not killed: ${unexplained.length}`);
  for (const { kind, job, from, to } of unexplained.slice(0, 5)) {
    console.log(`${kind}: ${job}: from ${from.pid} to ${to.pid}`);
  }
  return unexplained.length === 0;
}

/**
 * True when jobs were given up for their crashes alone. A run that died between its start in the
 * store and its first line is charged without a trace in the ledger: those are told, not judged.
 */
function reportCrashes(fleet: Fleet, { store, gaveUp }: Ending): boolean {
  const crashes = crashesOf(store, fleet.ledger.lines());
  const died = [...store.values()].filter(diedOfCrashes).length;
  console.log(
    `crashes: ${crashes.cutOff} cut off, ${crashes.unrecorded} ended but not yet recorded, ` +
      `${crashes.unearned} never started; ${died} jobs given up, alone at ${CRASH_CAP} crashes`,
  );
  return died === gaveUp;
}
