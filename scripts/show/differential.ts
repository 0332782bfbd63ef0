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

const { values } = parseArgs({
  options: {
    sequences: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
  },
});
const seed = Number(values.seed);

await using server = await startPostgres({ durable: false });
const found = await checkSequences(server, { count: Number(values.sequences), seed });
const rows = [...found.counts].toSorted(([, left], [, right]) => right - left);
const cells = rows.map(([verb, count]) => [verb, String(count)]);
for (const line of table(["command", "times"], cells)) console.log(line);
const total = rows.reduce((sum, [, count]) => sum + count, 0);
console.log(`\n${found.sequences} sequences from seed ${seed}, ${total} commands`);
if (found.difference === null) console.log("no answer differed");
else {
  for (const command of found.difference.commands) console.log(JSON.stringify(command));
  console.log(found.difference.message);
  process.exitCode = 1;
}
