/** Many sequences; the first in which the stores differ is shortened and told. */
import * as fc from "fast-check";
import type { PostgresServer } from "../support/postgres.ts";
import { sequences, type Command } from "./commands.ts";
import { runSequence, type Plant } from "./sequence.ts";

export interface Findings {
  readonly sequences: number;
  /** How often each command was run. */
  readonly counts: ReadonlyMap<string, number>;
  /** Null when all answers were equal. */
  readonly difference: Difference | null;
}

export interface Difference {
  readonly commands: readonly Command[];
  readonly message: string;
}

interface CheckOptions {
  readonly count: number;
  readonly seed: number;
  /** No sequence begins later than that. Default: all are run. */
  readonly msMax?: number;
  readonly plant?: Plant;
  /** False: the first difference is told as it was found. Default: it is shortened. */
  readonly shortens?: boolean;
}

export async function checkSequences(
  server: PostgresServer,
  { count, seed, msMax = Infinity, plant, shortens = true }: CheckOptions,
): Promise<Findings> {
  const counts = new Map<string, number>();
  const endsAt = performance.now() + msMax;
  let ran = 0;
  const property = fc.asyncProperty(sequences, async (commands) => {
    if (performance.now() > endsAt) return;
    ran += 1;
    for (const { do: verb } of commands) counts.set(verb, (counts.get(verb) ?? 0) + 1);
    await runSequence(server, commands, plant);
  });
  // Shortened here and not by the library: what matters is which commands it takes.
  const run = await fc.check(property, { numRuns: count, seed, endOnFailure: true });
  const [found] = run.counterexample ?? [];
  const differs = (commands: readonly Command[]) => differenceIn(server, commands, plant);
  const first = { commands: found ?? [], message: String(run.errorInstance) };
  const isFound = run.failed && found !== undefined;
  if (!isFound) return { sequences: ran, counts, difference: null };
  const difference = shortens ? await shorten(first, differs) : first;
  return { sequences: ran, counts, difference };
}

async function differenceIn(
  server: PostgresServer,
  commands: readonly Command[],
  plant: Plant | undefined,
): Promise<string | null> {
  try {
    await runSequence(server, commands, plant);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Leaves out ever smaller pieces for as long as the stores still differ. */
async function shorten(
  found: Difference,
  differs: (commands: readonly Command[]) => Promise<string | null>,
): Promise<Difference> {
  let { commands, message } = found;
  for (let size = Math.ceil(commands.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = commands.length - size; from >= 0; from -= size) {
      const fewer = [...commands.slice(0, from), ...commands.slice(from + size)];
      const told = await differs(fewer);
      if (told === null) continue;
      commands = fewer;
      message = told;
    }
  }
  return { commands, message };
}
