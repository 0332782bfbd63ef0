/**
 * Ratios of earlier runs, by suite: kept in the repository, so that a fall is seen. Only rates are
 * kept: the longest waits depend more on the other processes of the machine.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { median, type Row } from "./report.ts";

const FILE = join(import.meta.dirname, "history.json");
const FALL_MAX = 2 / 3;

type History = Record<string, Record<string, number>>;

interface Ratio {
  readonly name: string;
  readonly ratio: number;
}

/** Replaces what is kept of the works in `rows`. */
export function keep(suite: string, rows: readonly Row[]): void {
  const history = read();
  const measured = ratiosOf(rows).map(({ name, ratio }) => [name, Number(ratio.toFixed(3))]);
  history[suite] = { ...history[suite], ...Object.fromEntries(measured) };
  writeFileSync(FILE, `${JSON.stringify(history, null, 2)}\n`);
}

/** Says which ratios have fallen by more than a third. */
export function fallen(suite: string, rows: readonly Row[]): string[] {
  const kept = read()[suite] ?? {};
  return ratiosOf(rows).flatMap(({ name, ratio }) => {
    const before = kept[name];
    if (before === undefined || ratio >= before * FALL_MAX) return [];
    return [`${suite}, ${name}: ratio ${ratio.toFixed(2)}, kept ${before}`];
  });
}

export function ratiosOf(rows: readonly Row[]): Ratio[] {
  return fullNames(rows)
    .filter(({ better }) => better === "more")
    .flatMap(({ work, others }) =>
      others
        .filter(({ ratios }) => ratios.length > 0)
        .map(({ name, ratios }) => ({ name: `${work} ÷ ${name}`, ratio: median(ratios) })),
    );
}

/** A work such as “… rate” belongs to the work above it, and is kept with the name of that one. */
function fullNames(rows: readonly Row[]): Row[] {
  let above = "";
  return rows.map((row) => {
    if (!row.work.startsWith("…")) above = row.work;
    return row.work === above ? row : { ...row, work: `${above} ${row.work}` };
  });
}

function read(): History {
  const history: History = JSON.parse(readFileSync(FILE, "utf8"));
  return history;
}
