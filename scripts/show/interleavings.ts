/**
 * Goes through all orders in which the statements of two store verbs can reach PostgreSQL, and with
 * `--grain rows` also through those in which they stop before each row that they write.
 *
 *     node scripts/show/interleavings.ts [--grain statements|rows] [--most 20000] [pair …]
 *
 * Prints for each pair how many statements either side sends, how many orders of them were gone
 * through and how many there are, and fails if one of them breaks an invariant.
 */
import { parseArgs } from "node:util";
import { explore } from "../../test/interleavings/explore.ts";
import { PAIRS } from "../../test/interleavings/pairs.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { table } from "../lib/table.ts";

const { values, positionals: names } = parseArgs({
  options: {
    grain: { type: "string", default: "statements" },
    most: { type: "string", default: "20000" },
  },
  allowPositionals: true,
});
const grain = values.grain === "rows" ? "rows" : "statements";

await using server = await startPostgres({ durable: false });
const rows: string[][] = [];
const broken: string[] = [];
let total = 0;
for (const pair of PAIRS.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const found = await explore(server, pair, { grain, most: Number(values.most) });
  const { interleavings, isComplete, turns, waits, outcomes, violations } = found;
  total += interleavings;
  rows.push([
    pair.name,
    turns.join(" + "),
    String(interleavings),
    isComplete ? "all" : `at most ${ordersOf(...turns)}`,
    String(waits),
    String(outcomes.size),
    String(violations.length > 0 ? 1 : 0),
  ]);
  if (violations.length > 0) broken.push(`${pair.name}\n  ${violations.join("\n  ")}`);
}
const head = ["pair", grain, "orders run", "possible", "waits", "outcomes", "violations"];
for (const line of table(head, rows)) console.log(line);
const complete = rows.filter(([, , , possible]) => possible === "all").length;
console.log(
  `\n${rows.length} pairs, ${complete} of them in all orders; ` +
    `${total} orders, ${broken.length} pairs with a violation`,
);
for (const text of broken) console.log(`\n${text}`);
if (broken.length > 0) process.exitCode = 1;

/** In how many orders two rows of turns can be merged. Who waits for a lock leaves some out. */
function ordersOf(left: number, right: number): number {
  let orders = 1;
  for (let turn = 1; turn <= left; turn += 1) orders = (orders * (right + turn)) / turn;
  return Math.round(orders);
}
