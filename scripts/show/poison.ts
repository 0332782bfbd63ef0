/**
 * A job that kills its worker each time, among healthy ones of the same batch: it is dead after the
 * crash cap, they all complete, and none of them bears a crash that it had no part in.
 *
 *     node --conditions=source scripts/show/poison.ts [--healthy 50] [--slots 5]
 */
import { CRASH_CAP, chargedCrashes, crashesOf } from "./lib/check/crashes.ts";
import { Fleet } from "./lib/fleet/fleet.ts";
import type { Order } from "./lib/fleet/fleet.ts";
import type { StoredJob } from "./lib/fleet/history.ts";
import { numbersFrom } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";
import { waiting } from "./lib/fleet/task.ts";
import { linesOf } from "./lib/check/verdict.ts";

const options = numbersFrom("poison.ts", { healthy: 50, slots: 5, lease: 1000 });

await onStage(async () => {
  await using fleet = await Fleet.open({
    name: "poison",
    workers: 0,
    work: {
      lanes: { general: options.slots },
      lease: options.lease,
      poll: 100,
      batch: options.healthy + 1,
    },
  });
  const batch = Array.from({ length: options.healthy }, (): Order => ({ act: waiting(20) }));
  batch.splice(Math.floor(options.healthy / 2), 0, { act: { kind: "die" } });
  const ids = await fleet.place(batch);
  const poison = ids[Math.floor(options.healthy / 2)] ?? "";

  fleet.workers.push(fleet.startWorker());
  const crew: Crew = { deaths: 0, isOver: false };
  const replaced = replaceTheDead(fleet, crew);
  await fleet.drain();
  crew.isOver = true;
  // That workers die is what was asked for.
  const ending = await fleet.finish((seen) => ({ ...seen, exits: [] }));
  await replaced;

  for (const line of linesOf(ending)) console.log(line);
  const isTold = report(fleet, ending.store, poison, crew.deaths);
  return { sound: isTold && ending.findings.length === 0 };
});

interface Crew {
  deaths: number;
  isOver: boolean;
}

/** Starts a new worker whenever the last has died. */
async function replaceTheDead(fleet: Fleet, crew: Crew): Promise<void> {
  for (;;) {
    await fleet.workers[0]?.ended;
    if (crew.isOver) return;
    crew.deaths += 1;
    fleet.workers[0] = fleet.startWorker();
  }
}

function report(
  fleet: Fleet,
  store: ReadonlyMap<string, StoredJob>,
  poison: string,
  deaths: number,
): boolean {
  const dead = store.get(poison);
  const healthy = [...store].filter(([id]) => id !== poison);
  const completed = healthy.filter(([, { state }]) => state === "completed").length;
  const crashes = crashesOf(healthy, fleet.ledger.lines());
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
