/**
 * Deploys: a worker is told to stop (SIGTERM) in the middle of its jobs and a new one takes its
 * place, again and again. Nothing is lost, and no attempt is burnt.
 *
 *     node --conditions=source scripts/show/deploys.ts [--rounds 20] [--jobs 1000]
 *
 * The grace is shorter than the longest job, so that some runs end in time and others are cut off.
 */
import { seededDice } from "../../test/support/seeded-dice.ts";
import { Campaign, onStage, stopWorker, stopWorkers } from "./lib/campaign.ts";
import { numbersFrom } from "./lib/options.ts";
import { until } from "./lib/until.ts";
import { linesOf } from "./lib/verdict.ts";

const options = numbersFrom("deploys.ts", { rounds: 20, jobs: 1000, seed: 1 });
const dice = seededDice(options.seed);
const EFFECT_MS_MAX = 100;
const WAIT_MS_MAX = 120_000;

await onStage(async () => {
  const campaign = await Campaign.open("deploys", {
    lanes: { general: 20 },
    poll: 100,
    grace: EFFECT_MS_MAX / 2,
  });
  let worker = campaign.startWorker();
  await worker.ready;
  const codes: (number | NodeJS.Signals)[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    await beginJobs(campaign);
    const stopped = stopWorker(worker);
    worker = campaign.startWorker();
    codes.push(await stopped);
    await campaign.drain();
  }
  await stopWorkers([worker]);

  const store = await campaign.readStore();
  const verdict = campaign.judge(store);
  const burnt = [...store.values()].filter(({ charged }) => charged !== 1).length;
  const unclean = codes.filter((code) => code !== 0).length;
  console.log(`${options.rounds} deploys, each in the middle of ${options.jobs} jobs`);
  for (const line of linesOf(verdict)) console.log(line);
  console.log(`attempts burnt ${burnt}, unclean exits ${unclean} (${[...new Set(codes)].join()})`);
  const sound = verdict.findings.length === 0 && verdict.gaveUp + burnt + unclean === 0;
  await campaign.close({ keep: !sound });
  return { sound };
});

/** Enqueues, and waits until some part of it has been done. */
async function beginJobs(campaign: Campaign): Promise<void> {
  const linesBefore = campaign.ledger.lines().length;
  await campaign.enqueue(
    Array.from({ length: options.jobs }, () => {
      const ms = Math.ceil(dice.random() * EFFECT_MS_MAX);
      return { act: "sleep", ms, heedsAbort: true } as const;
    }),
  );
  const linesWanted = options.jobs * (0.4 + dice.random());
  await until("the worker is in the middle", WAIT_MS_MAX, () => {
    return campaign.ledger.lines().length - linesBefore > linesWanted;
  });
}
