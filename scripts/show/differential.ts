/**
 * Runs random sequences of commands on a model, on SQLite and on PostgreSQL, and compares every
 * answer. The first difference is shrunk and told.
 *
 *     node scripts/show/differential.ts [--sequences 1000] [--seed 1]
 */
import { parseArgs } from "node:util";
import { checkSequences } from "../../test/differential/check.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { table } from "../lib/table.ts";
import { progress } from "./lib/progress.ts";

const { values } = parseArgs({
  options: {
    sequences: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
  },
});
const seed = Number(values.seed);

await using server = await startPostgres({ durable: false });
const count = Number(values.sequences);
const tell = progress("sequences", count);
const found = await checkSequences(server, { count, seed, tell });
const rows = [...found.counts].map(([verb, kinds]) => {
  const sorted = [...kinds].toSorted(([, left], [, right]) => right - left);
  const total = sorted.reduce((sum, [, times]) => sum + times, 0);
  return { verb, total, kinds: sorted.map(([word, times]) => `${word} ${times}`).join(", ") };
});
const cells = rows
  .toSorted((left, right) => right.total - left.total)
  .map(({ verb, total, kinds }) => [verb, String(total), kinds]);
for (const line of table(["command", "answers", "of these kinds"], cells)) console.log(line);
const total = rows.reduce((sum, row) => sum + row.total, 0);
console.log(`\n${found.sequences} sequences from seed ${seed}, ${total} answers of each store`);
if (found.difference === null) console.log("no answer differed");
else {
  for (const command of found.difference.commands) console.log(JSON.stringify(command));
  console.log(found.difference.message);
  process.exitCode = 1;
}
