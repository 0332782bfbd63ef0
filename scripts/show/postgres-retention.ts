/**
 * Two million jobs flow through a short queue on PostgreSQL and go seconds after their end. Once it
 * has warmed up, no table and no index grows any more, and a claim costs what it cost before. At
 * the end nothing is left. The server looks for dead rows every ten seconds; with its default, a
 * minute, tables and indexes come to a rest at the traffic of one to two minutes.
 *
 *     node --conditions=source scripts/show/postgres-retention.ts [--jobs 2000000] [--depth 1000]
 */
import { startPostgres } from "../../test/support/postgres.ts";
import { table } from "../lib/table.ts";
import { numbersFrom } from "./lib/options.ts";
import { playFlow } from "./lib/retention/retention.ts";
import type { Reading } from "./lib/retention/retention.ts";
import { grown, megabytes } from "./lib/retention/sizes.ts";
import { onStage } from "./lib/run-stages.ts";

const GROWTH_MAX = 1.5;
/** Below this a table is not worth a word. */
const BYTES_MIN = 2 * 1024 ** 2;
/** A claim takes a few milliseconds, and the machine is never quite still. */
const CLAIM_GROWTH_MAX = 2;
const { jobs, depth } = numbersFrom("postgres-retention.ts", { jobs: 2_000_000, depth: 1_000 });

await onStage(async () => {
  await using server = await startPostgres();
  const marks = [jobs / 40, jobs / 4, jobs].map(Math.round);
  const { readings, left } = await playFlow(server.url, { marks, depth }, (reading) => {
    const { jobs: count, jobsPerSecond, claimMs } = reading;
    console.log(
      `${count} jobs: ${Math.round(jobsPerSecond)} per second, ` +
        `a claim takes ${claimMs.toFixed(1)} ms`,
    );
  });
  for (const line of sizeTable(readings)) console.log(line);
  const [warm, last] = readings.slice(-2);
  if (warm === undefined || last === undefined) throw new Error("there were too few jobs");
  const faults = [
    ...grown(warm.sizes, last.sizes, { factor: GROWTH_MAX, bytesMin: BYTES_MIN }),
    ...(last.claimMs > warm.claimMs * CLAIM_GROWTH_MAX ? ["a claim costs more than before"] : []),
    ...left.map((name) => `${name} is not empty although everything has expired`),
  ];
  for (const fault of faults) console.log(fault);
  return { sound: faults.length === 0 };
});

/** The most megabytes that each took up to a mark, and the rows of tables, living and dead. */
function sizeTable(readings: readonly Reading[]): string[] {
  const head = ["", ...readings.map((each) => `MB to ${each.jobs}`), "living", "dead"];
  const [last] = readings.slice(-1);
  const rows = (last?.sizes ?? []).map(({ name, kind, live, dead }) => [
    kind === "table" ? name : `  ${name.slice(name.indexOf(".") + 1)}`,
    ...readings.map(({ sizes }) => megabytes(sizes.find((each) => each.name === name)?.bytes ?? 0)),
    ...(kind === "table" ? [String(live), String(dead)] : ["", ""]),
  ]);
  const sums = readings.map(({ sizes }) => sizes.reduce((sum, { bytes }) => sum + bytes, 0));
  return table(head, [...rows, ["all", ...sums.map(megabytes), "", ""]]);
}
