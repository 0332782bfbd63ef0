/**
 * Sends drawn requests to the HTTP API, good ones and bad ones, as callers of two tenants and of
 * all: no answer may be a failure of the server, have data of another tenant or take long, and the
 * heap must stay flat.
 *
 *     node scripts/show/http-fuzz.ts [--store sqlite|postgres]
 *       [--requests 100000] [--seed 1] [--slow-ms 5000] [--plant 500|leak|hang]
 *
 * `--plant` plants a fault into one route: the run must find it. Ends with 1 if it finds anything.
 */
import { parseArgs } from "node:util";
import { table } from "../lib/table.ts";
import { PLANTS } from "./lib/http-fuzz/plants.ts";
import { fuzz, type FuzzReport } from "./lib/http-fuzz/run.ts";
import { Places } from "./lib/databases.ts";

const USAGE =
  "http-fuzz [--store sqlite|postgres] [--requests 100000] [--seed 1] [--slow-ms 5000] " +
  "[--plant 500|leak|hang]";
const THIRD = 1 / 3;

const { values } = parseArgs({
  options: {
    help: { type: "boolean" },
    store: { type: "string", default: "sqlite" },
    requests: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
    "slow-ms": { type: "string", default: "5000" },
    plant: { type: "string" },
  },
});
const plant = PLANTS.find((each) => each === values.plant) ?? null;
const numbers = [values.requests, values.seed, values["slow-ms"]].map(Number);
const [requests = 0, seed = 0, slowMs = 0] = numbers;
const isStore = values.store === "sqlite" || values.store === "postgres";
const isUsable = isStore && numbers.every((each) => Number.isSafeInteger(each) && each > 0);
if (values.help === true) {
  console.log(USAGE);
} else if (!isUsable || (values.plant !== undefined && plant === null)) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  await using places = await Places.open(values.store === "postgres" ? "postgres" : "sqlite");
  const began = performance.now();
  const report = await fuzz({ url: places.next(), requests, seed, plant, slowMs });
  const seconds = (performance.now() - began) / 1_000;
  print(report, seconds);
}

function print({ counts, reached, findings, found, slowestMs, heap }: FuzzReport, s: number): void {
  const statuses = [...new Set([...counts.values()].flatMap((each) => [...each.keys()]))].toSorted(
    (a, b) => a - b,
  );
  const rows = [...counts].toSorted(([a], [b]) => a.localeCompare(b));
  const cells = rows.map(([name, each]) => [
    name,
    ...statuses.map((status) => String(each.get(status) ?? "")),
  ]);
  const sums = statuses.map((status) =>
    String(rows.reduce((sum, [, each]) => sum + (each.get(status) ?? 0), 0)),
  );
  for (const line of table(["route", ...statuses.map(String)], [...cells, ["all", ...sums]])) {
    console.log(line);
  }
  const answers = rows.reduce((sum, [, each]) => sum + [...each.values()].reduce(add, 0), 0);
  const share = reached / Math.max(1, answers);
  console.log(`${values.store}, seed ${seed}: ${answers} answers in ${s.toFixed(0)} s`);
  console.log(`${reached} (${(share * 100).toFixed(0)} %) passed routing, identity and checks`);
  console.log(
    `slowest ${slowestMs.toFixed(0)} ms; ` +
      `heap ${heap.firstMb.toFixed(1)} MB, then ${heap.lastMb.toFixed(1)} MB`,
  );
  for (const finding of findings) console.log(`FOUND ${finding}`);
  console.log(found === 0 ? "nothing found" : `${found} findings`);
  if (share < THIRD) console.log("FOUND fewer than a third of the requests reached their route");
  if (found > 0 || share < THIRD) process.exitCode = 1;
}

function add(sum: number, count: number): number {
  return sum + count;
}
