/**
 * Deploys: a worker is told to stop (SIGTERM) in the middle of its jobs and a new one takes its
 * place, again and again. Nothing is lost, and no attempt is burnt.
 *
 *     node --conditions=source scripts/show/deploys.ts [--rounds 20] [--jobs 1000]
 *
 * The grace is shorter than the longest job, so that some runs end in time and others are cut off.
 */
import { seededDice } from "../../test/support/seeded-dice.ts";
import { Fleet } from "./lib/fleet/fleet.ts";
import { numbersFrom } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";
import { waiting } from "./lib/fleet/task.ts";
import { until } from "./lib/until.ts";
import { linesOf } from "./lib/check/verdict.ts";

const options = numbersFrom("deploys.ts", { rounds: 20, jobs: 1000, seed: 1 });
const dice = seededDice(options.seed);
const EFFECT_MS_MAX = 100;
const WAIT_MS_MAX = 120_000;

await onStage(async () => {
  await using fleet = await Fleet.open({
    name: "deploys",
    workers: 1,
    work: { lanes: { general: 20 }, poll: 100, grace: EFFECT_MS_MAX / 2 },
  });
  const codes: (number | NodeJS.Signals)[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    await beginJobs(fleet);
    const stopped = fleet.stop(fleet.workers[0]!);
    fleet.workers[0] = fleet.startWorker();
    codes.push(await stopped);
    await fleet.drain();
  }

  const verdict = await fleet.finish();
  const burnt = [...verdict.store.values()].filter(({ charged }) => charged !== 1).length;
  const unclean = codes.filter((code) => code !== 0).length;
  console.log(`${options.rounds} deploys, each in the middle of ${options.jobs} jobs`);
  for (const line of linesOf(verdict)) console.log(line);
  console.log(`attempts burnt ${burnt}, unclean exits ${unclean} (${[...new Set(codes)].join()})`);
  const sound = verdict.findings.length === 0 && verdict.gaveUp + burnt + unclean === 0;
  if (!sound) fleet.keep();
  return { sound };
});

/** Enqueues, and waits until some part of it has been done. */
async function beginJobs(fleet: Fleet): Promise<void> {
  const linesBefore = fleet.ledger.lines().length;
  const orders = Array.from({ length: options.jobs }, () => {
    return { act: waiting(Math.ceil(dice.random() * EFFECT_MS_MAX)) };
  });
  await fleet.place(orders);
  const linesWanted = options.jobs * (0.4 + dice.random());
  await until("the worker is in the middle", WAIT_MS_MAX, () => {
    return fleet.ledger.lines().length - linesBefore > linesWanted;
  });
}
