/**
 * Simulates the whole engine on SQLite, in virtual time and with seeded chance, and looks for
 * broken promises:
 *
 *     npm run simulate -- --seed 7 --trace     one seed, step by step
 *     npm run simulate -- --seeds 1..500       a campaign
 *     npm run simulate -- --mutants            which seed finds each planted bug
 */
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { mutants } from "../test/simulation/mutants/all.ts";
import { planOf } from "../test/simulation/plan/plan.ts";
import { RARE_PATHS } from "../test/simulation/rare-paths.ts";
import { simulate, type Verdict } from "../test/simulation/run.ts";
import { shrink } from "../test/simulation/shrink.ts";
import { plantAll } from "./lib/planted-bugs.ts";
import { runScript } from "./lib/run-script.ts";

const HELP = `npm run simulate -- [options]

  --seed N       one seed
  --seeds A..B   all seeds from A to B (default 1..100, with --mutants 1..400)
  --steps M      actions per seed (default 40)
  --cores N      share the seeds or the planted bugs among so many processes (default 1)
  --trace        print every step
  --shrink       make the first failing plan smaller, and print it
  --twice        run every seed twice, and compare the hashes of their traces
  --first        end with the first violation
  --plant NAME   with this planted bug
  --mutants      plant one bug after the other, and tell which seed sees it
  --only TEXT    with --mutants: those whose name contains it
  --fresh        with --mutants: do not begin with the seed that saw the bug before
  --keep         with --mutants: remember the seeds in test/simulation/mutants/seeds.json
  --help         this text

It ends with 1 when a promise was broken, a rare path was never taken in 400 seeds or more, or a
planted bug was not seen.`;

const PROGRESS_MS = 10_000;
/** A campaign that is shorter need not see every rare path. */
const SEEDS_FOR_RARE_PATHS = 400;

const OPTIONS = {
  seed: { type: "string" },
  seeds: { type: "string" },
  steps: { type: "string" },
  cores: { type: "string", default: "1" },
  trace: { type: "boolean", default: false },
  shrink: { type: "boolean", default: false },
  twice: { type: "boolean", default: false },
  first: { type: "boolean", default: false },
  plant: { type: "string" },
  mutants: { type: "boolean", default: false },
  only: { type: "string", default: "" },
  fresh: { type: "boolean", default: false },
  keep: { type: "boolean", default: false },
  tally: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

const { values } = parsed();
const mistake = mistakeIn();

function parsed() {
  try {
    return parseArgs({ options: OPTIONS });
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
  }
}

/** What is wrong with what was asked for; null: nothing. */
function mistakeIn(): string | null {
  const [from = Number.NaN, to = from] = (values.seed ?? values.seeds ?? "1..2")
    .split("..")
    .map((text) => (text === "" ? Number.NaN : Number(text)));
  const isRange = Number.isSafeInteger(from) && Number.isSafeInteger(to) && from <= to;
  if (!isRange) return "seeds are written as --seed 7 or --seeds 1..500";
  const steps = Number(values.steps ?? 1);
  const cores = Number(values.cores);
  if (!Number.isSafeInteger(steps) || steps < 1) return "--steps takes a whole number from 1 on";
  if (!Number.isSafeInteger(cores) || cores < 1) return "--cores takes a whole number from 1 on";
  const isKnown = (name: string): boolean => mutants.some((mutant) => mutant.name === name);
  if (values.plant !== undefined && !isKnown(values.plant)) {
    return `there is no planted bug "${values.plant}"`;
  }
  const isEmpty = values.mutants && !mutants.some(({ name }) => name.includes(values.only));
  return isEmpty ? `no planted bug is called "${values.only}"` : null;
}

function refuse(why: string): never {
  console.error(`${why}\nnpm run simulate -- --help tells more`);
  process.exit(2);
}

/** What a campaign has come to; of several, the sum. */
interface Tally {
  seeds: number;
  steps: number;
  virtualMs: number;
  /** Seeds that broke a promise, and seeds whose second run went otherwise. */
  broken: number[];
  differing: number[];
  counters: Record<string, number>;
  hashes: string[];
}

/** How a tally travels from one process to another. */
const TALLY = "tally: ";

if (values.help) console.log(HELP);
else if (mistake !== null) refuse(mistake);
else if (values.mutants) process.exitCode = (await plantEach()) ? 0 : 1;
else if (values.plant !== undefined) process.exitCode = await again(values.plant);
else process.exitCode = (await campaign()) ? 0 : 1;

function range(otherwise: string): readonly [from: number, to: number] {
  const text = values.seed ?? values.seeds ?? otherwise;
  const [from, to = from] = text.split("..").map(Number);
  return [from!, to!];
}

async function campaign(): Promise<boolean> {
  const [from, to] = range("1..100");
  const cores = Math.min(Number(values.cores), to - from + 1);
  const tally = cores > 1 ? await shared(from, to, cores) : await alone(from, to);
  if (!values.tally) return summary(tally);
  console.log(`${TALLY}${JSON.stringify(tally)}`);
  return true;
}

async function alone(from: number, to: number): Promise<Tally> {
  const tally = emptyTally();
  let toldAt = performance.now();
  for (let seed = from; seed <= to; seed += 1) {
    const verdict = await one(seed);
    tally.seeds += 1;
    tally.steps += verdict.steps;
    tally.virtualMs += verdict.virtualMs;
    tally.hashes.push(verdict.hash);
    for (const [name, n] of verdict.counters) add(tally, name, n);
    if (values.twice && (await one(seed)).hash !== verdict.hash) tally.differing.push(seed);
    if (verdict.violations.length > 0) {
      tally.broken.push(seed);
      await tellViolations(verdict);
      if (values.first) break;
    }
    if (performance.now() - toldAt > PROGRESS_MS) {
      toldAt = performance.now();
      console.error(`${from}..${seed}: ${tally.broken.length} seed(s) with violations`);
    }
  }
  return tally;
}

function emptyTally(): Tally {
  const totals = { seeds: 0, steps: 0, virtualMs: 0 };
  return { ...totals, broken: [], differing: [], counters: {}, hashes: [] };
}

function add({ counters }: Tally, name: string, n: number): void {
  counters[name] = (counters[name] ?? 0) + n;
}

function one(seed: number): Promise<Verdict> {
  return simulate(planOf(seed, stepsWanted()), values.trace ? console.log : undefined);
}

function stepsWanted(): number | undefined {
  return values.steps === undefined ? undefined : Number(values.steps);
}

async function tellViolations({ seed, violations }: Verdict): Promise<void> {
  console.log(`seed ${seed} breaks ${violations.length} promise(s):`);
  for (const violation of violations) console.log(`  ${violation}`);
  if (!values.shrink) return;
  values.shrink = false;
  const plan = planOf(seed, stepsWanted());
  const small = await shrink(plan, (line) => console.error(line));
  console.log(`${plan.actions.length} actions before, ${small.actions.length} after:`);
  console.log(JSON.stringify(small));
}

/** Each process takes a stretch of the seeds; the hashes keep their order. */
async function shared(from: number, to: number, cores: number): Promise<Tally> {
  const share = Math.ceil((to - from + 1) / cores);
  const parts = Array.from({ length: cores }, async (_, index) => {
    const first = from + index * share;
    const last = Math.min(to, first + share - 1);
    const passed = values.twice ? ["--twice"] : [];
    const args = ["--seeds", `${first}..${last}`, "--tally", ...passed, ...stepsPassed()];
    const { output } = await runScript([import.meta.filename, ...args]);
    const [told, tally] = output.split(TALLY);
    if (tally === undefined) throw new Error(`seeds ${first}..${last} came to no end: ${output}`);
    if (told !== undefined && told !== "") console.log(told.trimEnd());
    const found: Tally = JSON.parse(tally);
    return found;
  });
  const sum = emptyTally();
  for (const tally of await Promise.all(parts)) {
    sum.seeds += tally.seeds;
    sum.steps += tally.steps;
    sum.virtualMs += tally.virtualMs;
    sum.broken.push(...tally.broken);
    sum.differing.push(...tally.differing);
    sum.hashes.push(...tally.hashes);
    for (const [name, n] of Object.entries(tally.counters)) add(sum, name, n);
  }
  return sum;
}

function stepsPassed(): string[] {
  return values.steps === undefined ? [] : ["--steps", values.steps];
}

function summary({ seeds, steps, virtualMs, broken, differing, counters, hashes }: Tally): boolean {
  const rare = Object.fromEntries(RARE_PATHS.map((name) => [name, counters[name] ?? 0]));
  for (const name of Object.keys({ ...counters, ...rare }).toSorted()) {
    const mark = RARE_PATHS.includes(name) ? "*" : " ";
    console.log(`${String(counters[name] ?? 0).padStart(9)} ${mark} ${name}`);
  }
  const blind = RARE_PATHS.filter((name) => (counters[name] ?? 0) === 0);
  if (blind.length > 0) console.log(`never seen: ${blind.join(", ")}`);
  if (broken.length > 0) console.log(`seeds with violations: ${broken.join(", ")}`);
  if (differing.length > 0) console.log(`seeds that do not repeat: ${differing.join(", ")}`);
  const hash = createHash("sha256").update(hashes.join("\n")).digest("hex").slice(0, 16);
  const hours = (virtualMs / 3_600_000).toFixed(1);
  console.log(
    `${seeds} seed(s), ${steps} steps, ${hours} virtual hours: ${broken.length} with violations` +
      `${values.twice ? `, ${differing.length} not repeatable` : ""}; hash ${hash}`,
  );
  const isBlind = seeds >= SEEDS_FOR_RARE_PATHS && blind.length > 0;
  return broken.length === 0 && differing.length === 0 && !isBlind;
}

function plantEach(): Promise<boolean> {
  const { only, fresh, keep } = values;
  const args = [import.meta.filename, "--first", ...stepsPassed()];
  const chosen = mutants.filter(({ name }) => name.includes(only));
  const parts = { args, seeds: range("1..400"), cores: Number(values.cores), fresh, keep };
  return plantAll(chosen, parts, (line) => console.log(line));
}

/** The same once more, with a planted bug. */
async function again(mutant: string): Promise<number> {
  const { code } = await runScript(
    process.argv
      .slice(1)
      .filter((word) => word !== "--plant" && word !== mutant && !word.startsWith("--plant=")),
    { mutant, isHeard: true },
  );
  return code;
}
