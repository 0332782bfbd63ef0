/**
 * Handlers that block their event loop for three leases, with idle workers beside them: nobody
 * takes the job over, or the takeover is fenced. Never are two finishes accepted.
 *
 *     node --conditions=source scripts/show/busy-loop.ts [--jobs 10] [--lease 1000]
 */
import { Campaign, onStage, stopWorkers } from "./lib/campaign.ts";
import type { Effect } from "./lib/effect.ts";
import { numbersFrom } from "./lib/options.ts";
import { linesOf } from "./lib/verdict.ts";

const options = numbersFrom("busy-loop.ts", { jobs: 10, workers: 2, lease: 1000 });

await onStage(async () => {
  const campaign = await Campaign.open("busy-loop", {
    lanes: { general: 1 },
    lease: options.lease,
    poll: 100,
  });
  const workers = Array.from({ length: options.workers }, () => campaign.startWorker());
  await Promise.all(workers.map(({ ready }) => ready));

  const spin: Effect = { act: "spin", ms: 3 * options.lease };
  for (let count = 0; count < options.jobs; count += 1) {
    // One at a time: there is always an idle worker that could take over.
    await campaign.enqueue([spin]);
    await campaign.drain();
  }
  await stopWorkers(workers);

  const verdict = campaign.judge(await campaign.readStore());
  console.log(`${options.jobs} jobs that block for ${spin.ms} ms, lease ${options.lease} ms`);
  for (const line of linesOf(verdict)) console.log(line);
  const sound = verdict.findings.length === 0 && verdict.gaveUp === 0;
  await campaign.close({ keep: !sound });
  return { sound };
});
