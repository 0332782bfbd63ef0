/**
 * Plants the bugs of the simulation one after the other, and tells which seed sees each. The seed
 * that saw a bug before comes first, so that a campaign of all bugs takes minutes. A change of the
 * plans makes these seeds worthless; then all seeds are tried in order.
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
  readonly seed: number | null;
  /** The violation, or the last words of the campaign. */
  readonly what: string;
}

/** Answers whether all were seen. */
export async function plantAll(
  bugs: readonly Mutant[],
  parts: PlantParts,
  tell: (line: string) => void,
): Promise<boolean> {
  const known: Record<string, number> = JSON.parse(readFileSync(SEEDS, "utf8"));
  const waiting = bugs.values();
  let unseen = 0;
  const work = async (): Promise<void> => {
    for (const bug of waiting) {
      const startedAt = performance.now();
      const { seed, what } = await look(bug, parts, known[bug.name]);
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
      if (seed === null) unseen += 1;
      else known[bug.name] = seed;
      const found = seed === null ? "NOT SEEN" : `seed ${seed}`;
      tell(`${found.padEnd(8)} | ${bug.name} | ${bug.breaks} | ${what} | ${seconds} s`);
    }
  };
  await Promise.all(Array.from({ length: parts.cores }, work));
  tell(`${bugs.length} planted bugs, ${bugs.length - unseen} seen`);
  if (parts.keep) writeFileSync(SEEDS, `${JSON.stringify(known, null, 2)}\n`);
  return unseen === 0;
}

async function look(
  { name }: Mutant,
  { args, seeds: [from, to], fresh }: PlantParts,
  known: number | undefined,
): Promise<Sighting> {
  const isTried = !fresh && known !== undefined;
  const first = isTried ? await sighting([...args, "--seed", String(known)], name) : null;
  if (first !== null && first.seed !== null) return first;
  return sighting([...args, "--seeds", `${from}..${to}`], name);
}

async function sighting(args: readonly string[], mutant: string): Promise<Sighting> {
  const { output } = await runScript(args, { mutant });
  const seed = /^seed (\d+) breaks/m.exec(output)?.[1];
  const seen = /^ {2}(\w+: .*)$/m.exec(output)?.[1];
  const last = output.trim().split("\n").at(-1) ?? "";
  return { seed: seed === undefined ? null : Number(seed), what: seen ?? last };
}
