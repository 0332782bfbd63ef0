/** Many sequences; the first in which the stores differ is shortened and told. */
import * as fc from "fast-check";
import type { PostgresServer } from "../support/postgres.ts";
import { sequences, type Command } from "./commands.ts";
import { runSequence, type Note } from "./sequence.ts";
import type { Plant } from "./stage.ts";
import { wordsOf } from "./words.ts";

export interface Findings {
  readonly sequences: number;
  /** How often each command was given each kind of answer. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<string, number>>;
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
  /** Hears how many sequences are done. */
  readonly tell?: (done: number) => void;
  /** False: the first difference is told as it was found. Default: it is shortened. */
  readonly shortens?: boolean;
}

/** Sequences that are run at the same time: most of the time each waits for an answer. */
const AT_ONCE = 4;

export async function checkSequences(
  server: PostgresServer,
  { count, seed, msMax = Infinity, plant, tell, shortens = true }: CheckOptions,
): Promise<Findings> {
  const counts = new Map<string, Map<string, number>>();
  const endsAt = performance.now() + msMax;
  const differs = (commands: readonly Command[], note?: Note): Promise<string | null> =>
    differenceIn(server, commands, { plant, note });
  let [begun, ran] = [0, 0];
  let found: Difference | null = null;
  const next = async (): Promise<void> => {
    while (begun < count && performance.now() < endsAt && found === null) {
      // Each has a seed of its own, so that it can be run again alone.
      const [commands = []] = fc.sample(sequences, { numRuns: 1, seed: seed + begun });
      begun += 1;
      const message = await differs(commands, (command, answer) => tally(counts, command, answer));
      ran += 1;
      tell?.(ran);
      if (message !== null) found ??= { commands, message };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  const difference = found !== null && shortens ? await shorten(found, differs) : found;
  return { sequences: ran, counts, difference };
}

function tally(
  counts: Map<string, Map<string, number>>,
  { do: verb }: Command,
  answer: unknown,
): void {
  const kinds = counts.get(verb) ?? new Map<string, number>();
  counts.set(verb, kinds);
  for (const word of wordsOf(answer)) kinds.set(word, (kinds.get(word) ?? 0) + 1);
}

async function differenceIn(
  server: PostgresServer,
  commands: readonly Command[],
  options: Parameters<typeof runSequence>[2],
): Promise<string | null> {
  try {
    await runSequence(server, commands, options);
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
