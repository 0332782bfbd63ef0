/**
 * Jobs that kill their process beside healthy jobs, in virtual time: no healthy job may end, and
 * each one finishes. Real workers on a real store; only time, chance and death are arranged.
 *
 *     node --conditions=source scripts/show/blame.ts [--seeds 50] [--seed 1]
 *         [--store sqlite|postgres] [--shape "dies at once"]
 */
import { parseArgs } from "node:util";
import { runShape, SHAPES, type Shape, type Verdict } from "../../test/blame/shapes.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { openPostgres, openSqlite, type OpenStore } from "../../test/support/stores.ts";
import { table } from "../lib/table.ts";
import { progress } from "./lib/progress.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "50" },
    seed: { type: "string", default: "1" },
    store: { type: "string" },
    shape: { type: "string", multiple: true },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log("node --conditions=source scripts/show/blame.ts [--seeds 50] [--seed 1]");
  console.log("    [--store sqlite|postgres] [--shape NAME]");
  console.log(`shapes: ${SHAPES.map(({ name }) => `"${name}"`).join(", ")}`);
  process.exit(0);
}
const shapes = SHAPES.filter(({ name }) => values.shape?.includes(name) ?? true);
if (shapes.length === 0) {
  console.error(`no shape is named ${values.shape?.join(", ")}; see --help`);
  process.exit(2);
}
const [first, count] = [Number(values.seed), Number(values.seeds)];

/** Without poison every seed takes about the same time. */
const BARE_RUNS = 3;

let isSound = true;
if (values.store !== "postgres") isSound = (await show("sqlite", openSqlite)) && isSound;
if (values.store !== "sqlite") {
  await using server = await startPostgres({ durable: false });
  isSound = (await show("postgres", () => openPostgres(server, "shared"))) && isSound;
}
process.exitCode = isSound ? 0 : 1;

async function show(store: string, open: OpenStore): Promise<boolean> {
  const tell = progress(`seeds on ${store}`, shapes.length * count);
  const rows: string[][] = [];
  let [done, areSound] = [0, true];
  for (const shape of shapes) {
    const verdicts: Verdict[] = [];
    const bareMs: number[] = [];
    for (let seed = first; seed < first + count; seed += 1) {
      const verdict = await runOnce(open, shape, seed, false);
      if (!isFair(shape, verdict)) {
        areSound = false;
        console.log(`${store}, ${shape.name}, seed ${seed}: ${JSON.stringify(verdict)}`);
      }
      verdicts.push(verdict);
      if (bareMs.length < BARE_RUNS) {
        bareMs.push((await runOnce(open, shape, seed, true)).healthyMs);
      }
      tell((done += 1));
    }
    rows.push(rowOf(shape, verdicts, bareMs));
  }
  console.log(`\n${store}, ${count} seeds from ${first}:`);
  const head = [
    "shape",
    "innocents ended",
    "killed alone",
    "healthy done",
    "poisons failed / waiting",
  ];
  for (const line of table([...head, "deaths", "healthy done after (s)", "without poison"], rows)) {
    console.log(line);
  }
  return areSound;
}

async function runOnce(
  open: OpenStore,
  shape: Shape,
  seed: number,
  isBare: boolean,
): Promise<Verdict> {
  await using db = await open();
  // Awaited here, because the store is closed when this function ends.
  return await runShape(db, shape, seed, isBare);
}

function isFair({ healthy }: Shape, verdict: Verdict): boolean {
  const { innocentsEnded, healthyDone, killedAlone } = verdict;
  return innocentsEnded === 0 && healthyDone + killedAlone === healthy.length;
}

function rowOf({ name, healthy, poisons }: Shape, all: readonly Verdict[], bareMs: number[]) {
  const sum = (of: (verdict: Verdict) => number): number =>
    all.reduce((total, verdict) => total + of(verdict), 0);
  const failed = sum(({ poisonsFailed }) => poisonsFailed);
  const waiting = sum(({ poisonsWaiting }) => poisonsWaiting);
  return [
    name,
    String(sum(({ innocentsEnded }) => innocentsEnded)),
    String(sum(({ killedAlone }) => killedAlone)),
    `${sum(({ healthyDone }) => healthyDone)} of ${healthy.length * all.length}`,
    `${failed} / ${waiting} of ${poisons.length * all.length}`,
    spread(all.map(({ deaths }) => deaths)),
    spread(all.map(({ healthyMs }) => healthyMs / 1000)),
    spread(bareMs.map((ms) => ms / 1000)),
  ];
}

/** Median, least and most. */
function spread(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((left, right) => left - right);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const text = (value: number): string => String(Math.round(value * 10) / 10);
  return `${text(at(0.5))} (${text(at(0))}–${text(at(1))})`;
}
