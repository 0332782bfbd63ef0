/**
 * Plants the bugs of the simulation one after the other, and tells which seed sees each. The seed
 * that saw a bug before comes first, so that a campaign of all bugs takes minutes. A change of the
 * plans makes these seeds worthless; then all seeds are tried in order. A seed that breaks a
 * promise without any bug proves nothing: each seed that saw a bug is run once more without it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import type { Mutant } from "../../test/simulation/mutants/all.ts";
import { runScript } from "./run-script.ts";

const SEEDS = new URL("../../test/simulation/mutants/seeds.json", import.meta.url);

interface PlantParts {
  /** The script that simulates, and what every run of it is told. */
  readonly args: readonly string[];
  readonly seeds: readonly [from: number, to: number];
  readonly cores: number;
  /** Without the seeds of earlier campaigns. */
  readonly fresh: boolean;
  readonly keep: boolean;
}

interface Sighting {
  readonly seed: number;
  /** The first violation. */
  readonly what: string;
}

/** Most bugs are seen by one of these. */
const SEEDS_FIRST = 12;

/** Answers whether all were seen. */
export async function plantAll(
  bugs: readonly Mutant[],
  parts: PlantParts,
  tell: (line: string) => void,
): Promise<boolean> {
  const known: Record<string, number> = JSON.parse(readFileSync(SEEDS, "utf8"));
  const [from, to] = parts.seeds;
  const firstTo = Math.min(to, from + SEEDS_FIRST - 1);
  // All bugs with few seeds, then those that are left with all others: a hard one holds none up.
  const left = await plantEach(bugs, { ...parts, seeds: [from, firstTo] }, { known, tell });
  const rest: PlantParts = { ...parts, seeds: [firstTo + 1, to], fresh: true };
  const unseen = firstTo < to ? await plantEach(left, rest, { known, tell }) : left;
  for (const { name, breaks } of unseen) tell(`NOT SEEN | ${name} | ${breaks}`);
  tell(`${bugs.length} planted bugs, ${bugs.length - unseen.length} seen`);
  if (parts.keep) writeFileSync(SEEDS, `${JSON.stringify(known, null, 2)}\n`);
  return unseen.length === 0;
}

/** Answers those that were not seen. */
async function plantEach(
  bugs: readonly Mutant[],
  parts: PlantParts,
  { known, tell }: { readonly known: Record<string, number>; tell: (line: string) => void },
): Promise<readonly Mutant[]> {
  const waiting = bugs.values();
  const unseen: Mutant[] = [];
  const isClean = cleanSeeds(parts.args);
  const work = async (): Promise<void> => {
    for (const bug of waiting) {
      const { name, breaks } = bug;
      const startedAt = performance.now();
      const sighting = await look(bug, parts, known[name]);
      if (sighting === null) {
        unseen.push(bug);
        continue;
      }
      const { seed, what } = sighting;
      if (!(await isClean(seed))) {
        tell(`seed ${seed} breaks a promise without a planted bug, so it proves nothing: ${name}`);
        unseen.push(bug);
        continue;
      }
      known[name] = seed;
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
      tell(`${`seed ${seed}`.padEnd(8)} | ${name} | ${breaks} | ${what} | ${seconds} s`);
    }
  };
  await Promise.all(Array.from({ length: parts.cores }, work));
  return unseen;
}

async function look(
  { name }: Mutant,
  { args, seeds: [from, to], fresh }: PlantParts,
  known: number | undefined,
): Promise<Sighting | null> {
  const first =
    fresh || known === undefined
      ? null
      : await sightingOf([...args, "--seed", String(known)], name);
  return first ?? sightingOf([...args, "--seeds", `${from}..${to}`], name);
}

/** Whether a seed breaks no promise without a planted bug. Each seed is run once. */
function cleanSeeds(args: readonly string[]): (seed: number) => Promise<boolean> {
  const verdicts = new Map<number, Promise<boolean>>();
  return (seed) => {
    const known = verdicts.get(seed);
    const verdict =
      known ?? sightingOf([...args, "--seed", String(seed)], null).then((found) => found === null);
    verdicts.set(seed, verdict);
    return verdict;
  };
}

/** Null as the mutant: without a planted bug. */
async function sightingOf(
  args: readonly string[],
  mutant: string | null,
): Promise<Sighting | null> {
  const { code, output } = await runScript(args, mutant === null ? {} : { mutant });
  const seed = /^seed (\d+) breaks/m.exec(output)?.[1];
  // A bug whose text is no longer in the source would otherwise pass for one that no seed sees.
  if (code !== 0 && seed === undefined)
    throw new Error(`the run of "${mutant}" ended with ${code}`);
  const what = /^ {2}(\w+: .*)$/m.exec(output)?.[1] ?? "";
  return seed === undefined ? null : { seed: Number(seed), what };
}
