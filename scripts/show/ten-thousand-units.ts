/**
 * What the units of one job cost: time, calls and statements, rows and memory, for a tenth of ten
 * thousand of them, ten thousand, and ten times as many, which is the bound of a phase.
 *
 *     node --conditions=source scripts/show/ten-thousand-units.ts [--store sqlite] [--units 10000]
 *
 * Units that do nothing, in a process of its own for each row; the stores wait for the disk. With
 * `--only 1` the smaller and the larger number are left out.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { connect } from "../../test/support/postgres.ts";
import { table } from "../lib/table.ts";
import { aside } from "./lib/say-aside.ts";
import type { ManyUnits, UnitCosts } from "./lib/pipelines/many-units.ts";
import { numbersAndStores } from "./lib/options.ts";
import type { StoreKind } from "./lib/options.ts";
import { openStore, Places } from "./lib/databases.ts";
import { megabytes } from "./lib/retention/sizes.ts";
import { onStage } from "./lib/run-stages.ts";
import { wordOf } from "./lib/fleet/next-message.ts";

const options = numbersAndStores("ten-thousand-units.ts", {
  units: 10_000,
  concurrency: 10,
  only: 0,
});
const PROGRAM = fileURLToPath(new URL("lib/pipelines/many-units.child.ts", import.meta.url));
const PAGE = 1_000;
const HEAD = [
  "store",
  "units",
  "at once",
  "s",
  "units/s",
  "record calls",
  "moves",
  "statements",
  "rows written",
  "unit rows",
  "events",
  "RSS before, MB",
  "RSS peak",
  "heap peak",
];

await onStage(async () => {
  const { units, concurrency } = options;
  const sizes = options.only > 0 ? [units] : [units / 10, units, units * 10].map(Math.round);
  const rows: string[][] = [];
  for (const kind of options.stores) {
    await using places = await Places.open(kind, { durable: true });
    for (const size of sizes) rows.push(await measure(kind, places, size, concurrency));
    // Ten times as many side by side: what a write carries grows with it.
    if (options.only === 0) rows.push(await measure(kind, places, units, 10 * concurrency));
  }
  for (const line of table(HEAD, rows)) console.log(line);
  return { sound: true };
});

async function measure(kind: StoreKind, places: Places, units: number, concurrency: number) {
  const url = places.next();
  const settings: ManyUnits = { url, units, concurrency };
  const costs = await costsOf(settings);
  const kept = await rowsIn(url);
  const written = costs.rowsWritten ?? (await rowsWrittenIn(url));
  aside(`${kind}: ${units} units in ${(costs.jobMs / 1000).toFixed(1)} s`);
  const { rssBefore, rssPeak, heapPeak } = costs.bytes;
  return [
    kind,
    String(units),
    String(concurrency),
    (costs.jobMs / 1000).toFixed(2),
    String(Math.round(units / (costs.eachMs / 1000))),
    String(costs.records),
    String(costs.moves),
    String(costs.statements),
    String(written),
    String(kept.units),
    String(kept.events),
    megabytes(rssBefore),
    megabytes(rssPeak),
    megabytes(heapPeak),
  ];
}

function costsOf(settings: ManyUnits): Promise<UnitCosts> {
  const child = fork(PROGRAM, [JSON.stringify(settings)], {
    execArgv: ["--conditions=source", "--expose-gc"],
  });
  return wordOf(child);
}

/** What is left in the tables: a row for each unit, and what the feed was told. */
async function rowsIn(url: string): Promise<{ units: number; events: number }> {
  const store = await openStore(url);
  const { jobs } = await store.list({ type: "many" }, { limit: 1 });
  const progress = await store.progress(jobs[0]?.id ?? "");
  const units = (progress?.units ?? []).reduce(
    (sum, { planned, running, completed, failed }) => sum + planned + running + completed + failed,
    0,
  );
  let events = 0;
  for (let position = 0; ;) {
    const entries = await store.feed(position, PAGE);
    const last = entries.at(-1);
    if (last === undefined) break;
    events += entries.length;
    position = last.position;
  }
  await store.close();
  return { units, events };
}

/** Rows that were written to the tables of a schema, by the server's own counters. */
async function rowsWrittenIn(url: string): Promise<number> {
  const address = new URL(url);
  const schema = address.searchParams.get("schema");
  address.searchParams.delete("schema");
  const client = await connect(address.href);
  const { rows } = await client.query<{ written: string }>({
    text: `SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) AS written
           FROM pg_stat_user_tables WHERE schemaname = $1`,
    values: [schema],
  });
  await client.end();
  return Number(rows[0]?.written ?? 0);
}
