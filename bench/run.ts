/**
 * Benchmarks: `npm run bench -- [store] [--rounds N] [--jobs N] [--check] [--keep] [-o json]`.
 *
 * The machine is assumed to be shared and noisy, so every row is measured against a bare loop in
 * the same run, turn by turn, and what counts is the ratio. `--check` compares the ratios with
 * those kept in `bench/history.json` and fails when one has fallen by more than a third; `--keep`
 * writes them there.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { median, table, type Row } from "./report.ts";
import { benchStore } from "./store.ts";

const HISTORY = join(import.meta.dirname, "history.json");
const FALL_MAX = 2 / 3;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "5" },
    jobs: { type: "string", default: "20000" },
    check: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    output: { type: "string", short: "o", default: "table" },
    help: { type: "boolean", short: "h", default: false },
  },
});

const [suite = "store"] = positionals;
if (values.help || suite !== "store") {
  console.log("npm run bench -- [store] [--rounds N] [--jobs N] [--check] [--keep] [-o json]");
  process.exit(values.help ? 0 : 2);
}

const rows = await benchStore({ rounds: Number(values.rounds), jobs: Number(values.jobs) });
console.log(values.output === "json" ? JSON.stringify(rows, null, 2) : table(rows));
if (values.keep) keep(rows);
if (values.check) check(rows);

function keep(measured: readonly Row[]): void {
  const ratios = measured.flatMap(({ name, ratios: each }) =>
    each.length > 0 ? [[name, Number(median(each).toFixed(3))] as const] : [],
  );
  writeFileSync(HISTORY, `${JSON.stringify({ store: Object.fromEntries(ratios) }, null, 2)}\n`);
}

function check(measured: readonly Row[]): void {
  if (!existsSync(HISTORY)) throw new Error("nothing is kept yet: run with --keep first");
  const history: { store: Record<string, number> } = JSON.parse(readFileSync(HISTORY, "utf8"));
  const kept = history.store;
  const fallen = measured.filter(({ name, ratios }) => {
    const before = kept[name];
    return before !== undefined && ratios.length > 0 && median(ratios) < before * FALL_MAX;
  });
  for (const { name, ratios } of fallen) {
    console.error(`${name}: ratio ${median(ratios).toFixed(2)}, kept ${kept[name]}`);
  }
  if (fallen.length > 0) process.exitCode = 1;
  else console.log(`no ratio has fallen by more than a third (${measured.length} rows)`);
}
