/** Compares the source and the target of a copy, row by row, as canonical JSON. */
import { createHash } from "node:crypto";
import { COPIED_TABLES } from "../store/shared/copy/tables.ts";
import type { CopiedTable } from "../store/shared/copy/tables.ts";
import type { CopySource, CopyTarget, RowKey } from "../store/shared/copy/ends.ts";

/** The length to which a differing row is cut, and the digits of a hash in it. */
const SHOWN_LETTERS_MAX = 300;
const HASH_DIGITS = 12;

export interface Comparison {
  readonly table: string;
  readonly isEqual: boolean;
  readonly source: Side;
  readonly target: Side;
  /** The first rows that differ; `null` on the side that has no more rows. */
  readonly difference: Pair | null;
}

interface Side {
  readonly rows: number;
  /** The hash of all rows in the order of their keys. */
  readonly sha256: string;
}

interface Pair {
  readonly source: string | null;
  readonly target: string | null;
}

/** Reads all rows and writes nothing. The source must not change meanwhile. */
export async function compare(
  source: CopySource,
  target: CopyTarget,
): Promise<readonly Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const table of COPIED_TABLES) {
    comparisons.push(await compareRows(table.name, linesOf(source, table), target.lines(table)));
  }
  const [here, there] = [source.counters(), await target.counters()];
  const rowOf = ({ job, lease, event, name }: typeof here): string =>
    JSON.stringify({ job, lease, event, name });
  const counters = await compareRows("counters", [rowOf(here)].values(), [[rowOf(there)]]);
  return [...comparisons, counters];
}

function* linesOf(source: CopySource, table: CopiedTable): Generator<string> {
  for (let after: RowKey | null = null; ;) {
    const batch = source.batch(table, after);
    yield* batch.lines;
    if (batch.upTo === null) return;
    after = batch.upTo;
  }
}

async function compareRows(
  table: string,
  source: IteratorObject<string, void>,
  target: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
): Promise<Comparison> {
  const [here, there] = [new Tally(), new Tally()];
  let difference: Pair | null = null;
  const see = (pair: Pair): void => {
    here.add(pair.source);
    there.add(pair.target);
    if (pair.source !== pair.target) difference ??= { ...pair };
  };
  for await (const lines of target) {
    for (const line of lines) see({ source: source.next().value ?? null, target: line });
  }
  for (const line of source) see({ source: line, target: null });
  return {
    table,
    isEqual: difference === null,
    source: here.sum(),
    target: there.sum(),
    difference: shownPair(difference),
  };
}

class Tally {
  readonly #hash = createHash("sha256");
  #rows = 0;

  add(line: string | null): void {
    if (line === null) return;
    this.#rows += 1;
    this.#hash.update(`${line}\n`);
  }

  sum(): Side {
    return { rows: this.#rows, sha256: this.#hash.digest("hex") };
  }
}

/**
 * The columns that differ, and all numbers, which include the key. A text may be a payload or
 * another secret, so that its hash is shown.
 */
function shownPair(pair: Pair | null): Pair | null {
  if (pair === null) return null;
  const [source, target] = [columnsOf(pair.source), columnsOf(pair.target)];
  const shown = (here: Columns | null, there: Columns | null): string | null => {
    if (here === null) return null;
    const columns = Object.entries(here)
      .filter(([name, value]) => typeof value === "number" || !isSame(value, there?.[name]))
      .map(([name, value]) => [name, shownValue(value)]);
    return JSON.stringify(Object.fromEntries(columns)).slice(0, SHOWN_LETTERS_MAX);
  };
  return { source: shown(source, target), target: shown(target, source) };
}

type Columns = Readonly<Record<string, unknown>>;

function columnsOf(line: string | null): Columns | null {
  if (line === null) return null;
  const columns: Columns = JSON.parse(line);
  return columns;
}

function isSame(here: unknown, there: unknown): boolean {
  return JSON.stringify(here) === JSON.stringify(there);
}

function shownValue(value: unknown): unknown {
  if (typeof value !== "string" && typeof value !== "object") return value;
  if (value === null) return null;
  const hash = createHash("sha256").update(JSON.stringify(value)).digest("hex");
  return `sha256:${hash.slice(0, HASH_DIGITS)}`;
}
