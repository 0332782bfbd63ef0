/**
 * A job that kills its worker each time, among healthy ones of the same batch: it is dead after the
 * crash cap, they all complete, and none of them bears a crash that it had no part in.
 *
 *     node --conditions=source scripts/show/poison.ts [--healthy 50] [--slots 5]
 */
import { Campaign, onStage, stopWorkers } from "./lib/campaign.ts";
import type { StoredJob } from "./lib/check.ts";
import type { WorkerChild } from "./lib/children.ts";
import { CRASH_CAP, chargedCrashes, crashesOf } from "./lib/crashes.ts";
import type { Effect } from "./lib/effect.ts";
import { numbersFrom } from "./lib/options.ts";
import { linesOf } from "./lib/verdict.ts";

const options = numbersFrom("poison.ts", { healthy: 50, slots: 5, lease: 1000 });

await onStage(async () => {
  const campaign = await Campaign.open("poison", {
    lanes: { general: options.slots },
    lease: options.lease,
    poll: 100,
    batch: options.healthy + 1,
  });
  const healthy: Effect = { act: "sleep", ms: 20, heedsAbort: true };
  const batch: Effect[] = Array.from({ length: options.healthy }, () => healthy);
  batch.splice(Math.floor(options.healthy / 2), 0, { act: "die" });
  const ids = await campaign.enqueue(batch);
  const poison = ids[Math.floor(options.healthy / 2)] ?? "";

  const crew: Crew = { worker: campaign.startWorker(), deaths: 0, isOver: false };
  const replaced = replaceTheDead(campaign, crew);
  await campaign.drain();
  crew.isOver = true;
  await stopWorkers([crew.worker]);
  await replaced;

  const store = await campaign.readStore();
  const verdict = campaign.judge(store);
  for (const line of linesOf(verdict)) console.log(line);
  const sound = report(campaign, store, poison, crew.deaths) && verdict.findings.length === 0;
  await campaign.close({ keep: !sound });
  return { sound };
});

interface Crew {
  worker: WorkerChild;
  deaths: number;
  isOver: boolean;
}

/** Starts a new worker whenever the last has died. */
async function replaceTheDead(campaign: Campaign, crew: Crew): Promise<void> {
  for (;;) {
    await crew.worker.ended;
    if (crew.isOver) return;
    crew.deaths += 1;
    crew.worker = campaign.startWorker();
  }
}

function report(
  campaign: Campaign,
  store: ReadonlyMap<string, StoredJob>,
  poison: string,
  deaths: number,
): boolean {
  const dead = store.get(poison);
  const healthy = [...store].filter(([id]) => id !== poison);
  const completed = healthy.filter(([, { state }]) => state === "completed").length;
  const crashes = crashesOf(healthy, campaign.ledger.lines());
  const poisonCrashes = dead === undefined ? 0 : chargedCrashes(dead).length;
  console.log(
    `${deaths} workers died; the poison is ${dead?.state} after ${poisonCrashes} crashes`,
  );
  console.log(`${completed} of ${options.healthy} healthy jobs completed`);
  console.log(
    `their crashes: ${crashes.cutOff} cut off, ${crashes.unrecorded} ended but not yet recorded, ` +
      `${crashes.unearned} never started`,
  );
  return (
    dead?.state === "failed" &&
    poisonCrashes === CRASH_CAP &&
    // One death may be charged to nobody: several jobs were about to begin.
    deaths <= CRASH_CAP + 1 &&
    completed === options.healthy &&
    crashes.unearned === 0
  );
}
