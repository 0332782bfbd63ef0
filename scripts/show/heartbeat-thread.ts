/**
 * The cost of the heartbeat thread: the modules that it loads, the milliseconds from its start to
 * its first beat, and the memory by which the process grows (P24, P25).
 *
 *     npm run build && node --conditions=source scripts/show/heartbeat-thread.ts [--rounds 7]
 *
 * Measures the built package, as users run it.
 */
import { table } from "../lib/table.ts";
import { Places } from "./lib/databases.ts";
import { threadFigures, threadModules } from "./lib/heartbeat/measure-thread.ts";
import { numbersAndStores } from "./lib/options.ts";
import { percentile } from "./lib/percentile.ts";

const options = numbersAndStores("heartbeat-thread.ts", { rounds: 7 });
const rows: string[][] = [];
for (const kind of options.stores) {
  await using places = await Places.open(kind);
  const url = places.next();
  const modules = await threadModules(url, "dist");
  const own = modules.filter((path) => path.startsWith("dist/"));
  const figures = [];
  for (let round = 0; round < options.rounds; round += 1) {
    figures.push(await threadFigures(url, "dist"));
  }
  const medianOf = (values: readonly number[]): string => percentile(values, 0.5).toFixed(1);
  rows.push([
    kind,
    String(own.length),
    String(modules.length),
    medianOf(figures.map(({ firstBeatMs }) => firstBeatMs)),
    medianOf(figures.map(({ megabytes }) => megabytes)),
  ]);
}
const titles = ["store", "own modules", "all modules", "first beat ms", "memory MB"];
for (const line of table(titles, rows)) console.log(line);
