/**
 * A worker in bash and psql, one in Python and psql, and one in TypeScript on the same queue.
 *
 *     node --conditions=source scripts/show/sql-workers.ts [--tasks 2000]
 *
 * Sound: no task has run twice, and every task has its fact and its completion.
 */
import { parseArgs } from "node:util";
import { missingProgram, raceWorkers } from "./lib/sql/race.ts";
import { onStage } from "./lib/run-stages.ts";

const { values } = parseArgs({ options: { tasks: { type: "string", default: "2000" } } });
const tasks = Number(values.tasks);
if (!Number.isSafeInteger(tasks) || tasks < 60) throw new Error("--tasks must be 60 or more");

const missing = missingProgram();
if (missing === null) await onStage(show);
else console.log(`SKIPPED: there is no ${missing}`);

async function show(): Promise<{ sound: boolean }> {
  const race = await raceWorkers({ tasks });
  console.log(`tasks      ${race.tasks}`);
  for (const [worker, count] of Object.entries(race.byWorker)) {
    console.log(`${worker.padEnd(10)} ${count}`);
  }
  console.log(`facts      ${race.facts}`);
  console.log(`completed  ${race.completed}`);
  console.log(`twice      ${race.twice}`);
  return { sound: race.twice === 0 && race.facts === tasks && race.completed === tasks };
}
