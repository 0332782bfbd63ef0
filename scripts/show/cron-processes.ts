/**
 * Two processes with the same schedule for every second, and a third one that is killed with
 * SIGKILL at random and started again: each second has exactly one job.
 *
 *     node --conditions=source scripts/show/cron-processes.ts [--store postgres] [--seconds 60]
 */
import { seededDice } from "../../test/support/seeded-dice.ts";
import { tick } from "./lib/cron/ticking.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";

const { stores, ...options } = numbersAndStores("cron-processes.ts", {
  seconds: 60,
  processes: 2,
  seed: 1,
});

await onStage(async () => {
  let sound = true;
  for (const kind of stores) {
    await using places = await Places.open(kind);
    const { folder } = places;
    const dice = seededDice(options.seed);
    const report = await tick({ ...options, url: places.next(), folder, dice });
    const { slots, jobs, kills, findings } = report;
    console.log(
      `${kind}: ${slots} seconds, ${jobs} jobs, ${options.processes} processes, ${kills} kills, ` +
        `${findings.length} differences`,
    );
    for (const finding of findings.slice(0, 10)) console.log(`  ${finding}`);
    sound &&= findings.length === 0;
  }
  return { sound };
});
