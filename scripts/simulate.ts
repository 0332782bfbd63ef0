/**
 * Simulates the whole engine on SQLite, in virtual time and with seeded chance, and looks for
 * broken promises:
 *
 *     npm run simulate -- --seed 7 --trace     one seed, step by step
 *     npm run simulate -- --seeds 1..500       a campaign
 *     npm run simulate -- --mutants            how many seeds find each planted bug
 */
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { mutants } from "../test/simulation/mutants.ts";
import { planOf } from "../test/simulation/plan.ts";
import { RARE_PATHS } from "../test/simulation/rare-paths.ts";
import { simulate, type Verdict } from "../test/simulation/run.ts";
import { shrink } from "../test/simulation/shrink.ts";

const HELP = `npm run simulate -- [options]

  --seed N       one seed
  --seeds A..B   all seeds from A to B (default 1..100)
  --steps M      actions per seed (default 40)
  --trace        print every step
  --shrink       make the first failing plan smaller, and print it
  --repeat       run every seed twice, and compare the hashes of their traces
  --first        end with the first violation
  --mutants      plant one bug after the other, and count the seeds until it is seen
  --only TEXT    with --mutants: those whose name contains it
  --help         this text

It ends with 1 when a promise was broken, a rare path was never taken in 200 seeds or more, or a
planted bug was not seen.`;

const PROGRESS_MS = 10_000;
/** A campaign that is shorter need not see every rare path. */
const SEEDS_FOR_RARE_PATHS = 200;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    steps: { type: "string" },
    trace: { type: "boolean", default: false },
    shrink: { type: "boolean", default: false },
    repeat: { type: "boolean", default: false },
    first: { type: "boolean", default: false },
    mutants: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) console.log(HELP);
else process.exitCode = (await (values.mutants ? plantAll() : campaign())) ? 0 : 1;

function range(otherwise: string): readonly [from: number, to: number] {
  const text = values.seed === undefined ? (values.seeds ?? otherwise) : values.seed;
  const [from, to = from] = text.split("..").map(Number);
  if (Number.isSafeInteger(from) && Number.isSafeInteger(to)) return [from!, to!];
  throw new Error(`seeds are written as 1..500, not ${text}`);
}

async function campaign(): Promise<boolean> {
  const [from, to] = range("1..100");
  const totals = { seeds: 0, steps: 0, virtualMs: 0, violations: 0, differing: 0 };
  const counters = new Map<string, number>();
  let toldAt = performance.now();
  for (let seed = from; seed <= to; seed += 1) {
    const verdict = await one(seed);
    totals.seeds += 1;
    totals.steps += verdict.steps;
    totals.virtualMs += verdict.virtualMs;
    for (const [name, n] of verdict.counters) counters.set(name, (counters.get(name) ?? 0) + n);
    if (values.repeat && (await one(seed)).hash !== verdict.hash) {
      totals.differing += 1;
      console.log(`seed ${seed}: two runs differ`);
    }
    if (verdict.violations.length > 0) {
      totals.violations += 1;
      await tellViolations(verdict);
      if (values.first) break;
    }
    if (performance.now() - toldAt > PROGRESS_MS) {
      toldAt = performance.now();
      console.error(`${totals.seeds} seed(s), ${totals.violations} with violations`);
    }
  }
  return summary(totals, counters);
}

function one(seed: number): Promise<Verdict> {
  const steps = values.steps === undefined ? undefined : Number(values.steps);
  return simulate(planOf(seed, steps), values.trace ? console.log : undefined);
}

async function tellViolations({ seed, violations }: Verdict): Promise<void> {
  console.log(`seed ${seed} breaks ${violations.length} promise(s):`);
  for (const violation of violations) console.log(`  ${violation}`);
  if (!values.shrink) return;
  values.shrink = false;
  const steps = values.steps === undefined ? undefined : Number(values.steps);
  const small = await shrink(planOf(seed, steps), (line) => console.error(line));
  console.log(JSON.stringify(small.actions));
}

function summary(
  totals: Readonly<Record<"seeds" | "steps" | "virtualMs" | "violations" | "differing", number>>,
  counters: ReadonlyMap<string, number>,
): boolean {
  for (const name of [...counters.keys()].toSorted()) {
    console.log(`${String(counters.get(name)).padStart(9)}  ${name}`);
  }
  const blind = RARE_PATHS.filter((name) => !counters.has(name));
  const isLong = totals.seeds >= SEEDS_FOR_RARE_PATHS;
  if (blind.length > 0) console.log(`never seen: ${blind.join(", ")}`);
  const hours = (totals.virtualMs / 3_600_000).toFixed(1);
  console.log(
    `${totals.seeds} seed(s), ${totals.steps} steps, ${hours} virtual hours: ` +
      `${totals.violations} with violations` +
      (values.repeat ? `, ${totals.differing} not repeatable` : ""),
  );
  return totals.violations === 0 && totals.differing === 0 && !(isLong && blind.length > 0);
}

async function plantAll(): Promise<boolean> {
  const [from, to] = range("1..2000");
  let missed = 0;
  for (const { name, breaks } of mutants.filter((mutant) => mutant.name.includes(values.only))) {
    const output = await withMutant(name, `${from}..${to}`);
    const seed = /^seed (\d+) breaks/m.exec(output)?.[1];
    const seen = /^ {2}(\w+): (.*)$/m.exec(output);
    if (seed === undefined) missed += 1;
    const found = seed === undefined ? "NOT SEEN" : `${Number(seed) - from + 1} seed(s)`;
    console.log(`${found.padEnd(12)} ${name} (${breaks}): ${seen?.[0].trim() ?? lastLine(output)}`);
  }
  return missed === 0;
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}

/** A process of its own: the bug is planted while the source is loaded. */
function withMutant(name: string, seeds: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const plant = new URL("../test/simulation/plant.ts", import.meta.url).href;
  const args = ["--conditions=source", "--import", plant, import.meta.filename];
  const child = spawn(process.execPath, [...args, "--seeds", seeds, "--first"], {
    env: { ...process.env, MILLRACE_MUTANT: name },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (output += String(chunk)));
  child.on("error", reject);
  child.on("close", () => resolve(output));
  return promise;
}
