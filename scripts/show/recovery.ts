/**
 * How long a job waits after its worker was killed, with default settings: from the kill to the
 * start on another worker.
 *
 *     node --conditions=source scripts/show/recovery.ts [--rounds 30] [--parallel 10] [--lease MS]
 *
 * Each round has a store of its own. The kill falls at a random moment between two heartbeats.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { seededDice } from "../../test/support/seeded-dice.ts";
import { Fleet } from "./lib/fleet/fleet.ts";
import { numbersFrom } from "./lib/options.ts";
import { percentile } from "./lib/percentile.ts";
import { onStage } from "./lib/run-stages.ts";
import { waiting } from "./lib/fleet/task.ts";
import { until } from "./lib/until.ts";

const options = numbersFrom("recovery.ts", { rounds: 30, parallel: 10, seed: 1, lease: 30_000 });
const dice = seededDice(options.seed);

await onStage(async () => {
  const waits: number[] = [];
  const rounds = Array.from({ length: options.rounds }, (_, round) => round).values();
  const play = async (): Promise<void> => {
    // All stages draw from one iterator, so that each round is played once.
    for (const _ of rounds) waits.push(await playRound());
  };
  await Promise.all(Array.from({ length: options.parallel }, play));
  const seconds = (share: number): string => (percentile(waits, share) / 1000).toFixed(1);
  console.log(
    `recovery of a killed worker's job, ${waits.length} rounds, lease ${options.lease} ms`,
  );
  console.log(`p50 ${seconds(0.5)} s, p99 ${seconds(0.99)} s, max ${seconds(1)} s`);
  return { sound: waits.length === options.rounds };
});

/** Milliseconds from the kill to the second start. */
async function playRound(): Promise<number> {
  const work = { lease: options.lease };
  await using fleet = await Fleet.open({ name: "recovery", workers: 1, work });
  const [first] = fleet.workers;
  await fleet.place([{ act: waiting(3_600_000) }]);
  await until("the first worker has the job", 60_000, () => startsOf(fleet)[0] ?? null);
  const second = fleet.startWorker();
  await second.ready;
  await sleep((dice.random() * options.lease) / 3);

  const killedAt = Date.now();
  fleet.kill(first!);
  const limitMs = 60_000 + 3 * options.lease;
  const start = await until("the second worker has it", limitMs, () => {
    return startsOf(fleet)[1] ?? null;
  });
  fleet.kill(second);
  await second.ended;
  return start.at - killedAt;
}

function startsOf(fleet: Fleet): { at: number }[] {
  return fleet.ledger.lines().filter(({ what }) => what === "start");
}
