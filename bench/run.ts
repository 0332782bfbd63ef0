/**
 * Benchmarks. The machine is assumed to be shared and noisy: every figure stands beside that of a
 * bare loop or of other job systems from the same run, turn by turn, and what counts is the ratio.
 *
 * `--check` compares the ratios with those kept in `bench/history.json` and fails when one has
 * fallen by more than a third; `--keep` writes them there.
 */
import { constants } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { Databases, isOnPath, REDIS_SERVER } from "./databases.ts";
import { engineContests } from "./engine.ts";
import { fallen, keep } from "./history.ts";
import { build } from "../scripts/build.ts";
import { installPeers } from "./install-peers.ts";
import { peerContests } from "./peers.ts";
import { report, type Row } from "./report.ts";
import { shapeContests } from "./shapes.ts";
import { compete, type Contest, type Outcome } from "./side-by-side.ts";
import { benchStore } from "./store.ts";

const USAGE = `npm run bench -- [store] [engine] [options]      ours, beside a bare loop
npm run bench -- shapes [options]                what users feel, beside other job systems
npm run bench -- --peers [options]               rates, beside other job systems

  --only P1,P9        only these rows; P7, P8, P15 and P16 run only when named
  --store NAME        sqlite or postgres
  --rounds N          how often (3; shapes: 1)
  --jobs N            how many jobs each time (15000)
  --check, --keep     compare the ratios with the kept ones, or keep them
  --beside PATH       shapes: a working tree of an earlier commit takes part, with this folder bench
  -o json             figures instead of a table`;

interface Suite {
  readonly name: string;
  readonly run: () => Promise<Outcome>;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    peers: { type: "boolean", default: false },
    only: { type: "string" },
    store: { type: "string" },
    rounds: { type: "string" },
    beside: { type: "string" },
    jobs: { type: "string", default: "15000" },
    check: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    output: { type: "string", short: "o", default: "table" },
    help: { type: "boolean", short: "h", default: false },
  },
});

const isShapes = positionals.includes("shapes");
const rounds = count("rounds", values.rounds ?? (isShapes ? "1" : "3"));
const jobs = count("jobs", values.jobs);
const only = values.only?.split(",") ?? null;
const store = storeOf(values.store);
process.exitCode = await main();

async function main(): Promise<number> {
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (values.keep && values.beside !== undefined) refuse("--keep keeps no ratio to another tree");
  if (values.peers || isShapes) await installPeers();
  if (isShapes) await built();
  await using databases = new Databases();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void leave(databases, signal));
  }
  const outcomes: Record<string, readonly Row[]> = {};
  for (const { name, run } of suites(databases)) {
    const { rows, failures } = await run();
    outcomes[name] = rows;
    if (values.output !== "json") console.log(`\n${name}\n\n${report(rows)}`);
    for (const failure of failures) console.error(`could not be measured: ${failure}`);
    if (values.keep) keep(name, rows);
  }
  if (values.output === "json") console.log(JSON.stringify(outcomes, null, 2));
  return values.check ? check(outcomes) : 0;
}

/** Files and servers go with the run, also when it is cut short. Children end by themselves. */
async function leave(databases: Databases, signal: NodeJS.Signals): Promise<never> {
  await databases[Symbol.asyncDispose]().catch(() => {});
  process.exit(128 + constants.signals[signal]);
}

function suites(databases: Databases): Suite[] {
  const options = { rounds, jobs, databases, say };
  const contests = (name: string, list: readonly Contest[]): Suite => ({
    name,
    run: () => compete(chosen(list), options),
  });
  const stores = store === null ? (["sqlite", "postgres"] as const) : [store];
  if (values.peers || isShapes) {
    if (!isOnPath(REDIS_SERVER)) say(`no ${REDIS_SERVER} on the PATH: BullMQ on Redis is left out`);
  }
  if (values.peers) {
    const slow = only !== null;
    return [
      contests(
        "peers",
        stores.flatMap((each) => peerContests(each, { slow })),
      ),
    ];
  }
  const known = [
    { name: "store", run: () => benchStore(store ?? "sqlite", options) },
    contests("engine", engineContests(store ?? "sqlite")),
    contests("shapes", shapeContests(stores, { beside: besideOf(values.beside) })),
  ];
  const unknown = positionals.find((name) => known.every((suite) => suite.name !== name));
  if (unknown !== undefined) refuse(`there is no suite “${unknown}”`);
  const wanted = only === null ? ["store", "engine"] : ["engine"];
  const names = positionals.length === 0 ? wanted : positionals;
  return known.filter(({ name }) => names.includes(name));
}

/** The contests that the named rows need, with those rows alone. */
function chosen(contests: readonly Contest[]): Contest[] {
  if (only === null) return [...contests];
  const wanted = contests
    .map((each) => ({ ...each, rows: each.rows.filter(({ id }) => only.includes(id)) }))
    .filter((each) => each.rows.length > 0);
  const missing = only.filter((id) =>
    wanted.every(({ rows }) => rows.every((row) => row.id !== id)),
  );
  if (missing.length === 0) return wanted;
  return refuse(`--only: there is no row ${missing.join(", ")} here; most stand with --peers`);
}

function check(outcomes: Record<string, readonly Row[]>): number {
  const all = Object.entries(outcomes).flatMap(([suite, rows]) => fallen(suite, rows));
  for (const line of all) console.error(`fallen: ${line}`);
  if (all.length === 0) console.error("no kept ratio has fallen by more than a third");
  return all.length === 0 ? 0 : 1;
}

function say(line: string): void {
  console.error(line);
}

/** P24 starts the package as users have it. */
async function built(): Promise<void> {
  const { ok, complaints } = await build();
  if (!ok) refuse(`the build failed:\n${complaints}`);
}

function besideOf(path: string | undefined): string | null {
  return path === undefined ? null : resolve(path);
}

function storeOf(name: string | undefined): "sqlite" | "postgres" | null {
  if (name === undefined) return null;
  if (name === "sqlite" || name === "postgres") return name;
  return refuse(`--store “${name}”: it is sqlite or postgres`);
}

function count(option: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  return refuse(`--${option} “${text}”: give a whole number above 0`);
}

function refuse(why: string): never {
  console.error(`${why}\n\n${USAGE}`);
  process.exit(2);
}
