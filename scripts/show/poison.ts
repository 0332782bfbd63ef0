/**
 * A job that kills its worker each time, beside healthy jobs that run longer than the poison lives:
 * the poison is dead once it has run alone, and every healthy job completes. Real processes.
 *
 *     node --conditions=source scripts/show/poison.ts [--store sqlite|postgres] [--healthy 4]
 *         [--slots 8] [--run MS] [--dies MS] [--lease MS]
 */
import { CRASH_CAP, countedCrashes } from "./lib/check/crashes.ts";
import { Places } from "./lib/databases.ts";
import { Fleet } from "./lib/fleet/fleet.ts";
import type { Order } from "./lib/fleet/fleet.ts";
import type { StoredJob } from "./lib/fleet/history.ts";
import { numbersAndStores } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";
import { waiting } from "./lib/fleet/task.ts";
import { linesOf } from "./lib/check/verdict.ts";

const options = numbersAndStores("poison.ts", {
  healthy: 4,
  slots: 8,
  run: 10_000,
  dies: 500,
  lease: 1000,
});

await onStage(async () => {
  let sound = true;
  for (const kind of options.stores) {
    await using places = await Places.open(kind);
    console.log(`${kind}:`);
    sound = (await poisonBeside(places.next())) && sound;
  }
  return { sound };
});

async function poisonBeside(url: string): Promise<boolean> {
  await using fleet = await Fleet.open({
    name: "poison",
    url,
    workers: 0,
    work: { lanes: { general: options.slots }, lease: options.lease, poll: 100 },
  });
  const batch = Array.from({ length: options.healthy }, (): Order => ({
    act: waiting(options.run),
  }));
  const place = Math.floor(options.healthy / 2);
  batch.splice(place, 0, { act: { kind: "die", afterMs: options.dies } });
  const ids = await fleet.place(batch);
  const poison = ids[place] ?? "";

  fleet.workers.push(fleet.startWorker());
  const crew: Crew = { deaths: 0, isOver: false };
  const replaced = replaceTheDead(fleet, crew);
  await fleet.drain();
  crew.isOver = true;
  // That workers die is part of the plan.
  const ending = await fleet.finish((seen) => ({ ...seen, exits: [] }));
  await replaced;

  for (const line of linesOf(ending)) console.log(line);
  return report(ending.store, poison, crew.deaths) && ending.findings.length === 0;
}

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

function report(store: ReadonlyMap<string, StoredJob>, poison: string, deaths: number): boolean {
  const dead = store.get(poison);
  const healthy = [...store].filter(([id]) => id !== poison).map(([, job]) => job);
  const completed = healthy.filter(({ state }) => state === "completed").length;
  const crashes = healthy.map((job) => countedCrashes(job).length);
  const poisonCrashes = dead === undefined ? 0 : countedCrashes(dead).length;
  console.log(
    `${deaths} workers died; the poison is ${dead?.state} after ${poisonCrashes} crashes`,
  );
  console.log(`${completed} of ${options.healthy} healthy jobs completed`);
  console.log(`crashes counted for them, at no cost: ${crashes.join(", ")}`);
  // With company up to the cap, and then once alone.
  const isBounded = poisonCrashes >= CRASH_CAP && poisonCrashes <= CRASH_CAP + 1;
  return dead?.state === "failed" && isBounded && completed === options.healthy;
}
