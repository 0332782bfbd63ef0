/**
 * Goes through all orders in which the statements of two store verbs can reach PostgreSQL, and with
 * `--grain rows` also through those in which they stop before each row that they write.
 *
 *     node scripts/show/interleavings.ts [--grain statements|rows] [--most 2000] [pair …]
 *
 * Prints how many orders each pair has, and fails if one of them breaks an invariant.
 */
import { parseArgs } from "node:util";
import { explore } from "../../test/interleavings/explore.ts";
import { PAIRS } from "../../test/interleavings/pairs.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { table } from "../lib/table.ts";

const { values, positionals: names } = parseArgs({
  options: {
    grain: { type: "string", default: "statements" },
    most: { type: "string", default: "2000" },
  },
  allowPositionals: true,
});
const grain = values.grain === "rows" ? "rows" : "statements";

await using server = await startPostgres({ durable: false });
const rows: string[][] = [];
const broken: string[] = [];
for (const pair of PAIRS.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const found = await explore(server, pair, { grain, most: Number(values.most) });
  const all = found.isComplete ? "all" : "some";
  const outcomes = String(found.outcomes.size);
  rows.push([pair.name, String(found.interleavings), all, String(found.waits), outcomes]);
  if (found.violations.length > 0) broken.push(`${pair.name}\n  ${found.violations.join("\n  ")}`);
}
const head = ["pair", "interleavings", "of them", "waits", "outcomes"];
for (const line of table(head, rows)) console.log(line);
const total = rows.reduce((sum, [, count]) => sum + Number(count), 0);
console.log(`\n${total} interleavings, ${broken.length} pairs with a violation`);
for (const text of broken) console.log(`\n${text}`);
if (broken.length > 0) process.exitCode = 1;
