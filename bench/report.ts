/** Figures as a table: medians with their spread, never a single run. */
import { table } from "../scripts/lib/table.ts";

/** One kind of work, and what each contestant made of it. */
export interface Row {
  /** The number of its target, such as `P1`; empty where there is none. */
  readonly id: string;
  readonly work: string;
  readonly unit: string;
  readonly better: "more" | "less";
  readonly ours: readonly number[];
  readonly others: readonly Other[];
  /** What our own figure has to keep to. */
  readonly bound: number | null;
}

export interface Other {
  readonly name: string;
  readonly values: readonly number[];
  /** Ours over theirs, round by round. */
  readonly ratios: readonly number[];
  readonly target: number | null;
}

export function median(values: Iterable<number>): number {
  return percentile(values, 50);
}

/** Interpolated, so that the median of two is their middle. */
export function percentile(values: Iterable<number>, percent: number): number {
  const sorted = Float64Array.from(values).toSorted();
  const place = ((sorted.length - 1) * percent) / 100;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place % 1);
}

function isReached(better: Row["better"], value: number, target: number): boolean {
  return better === "more" ? value >= target : value <= target;
}

export function report(rows: readonly Row[]): string {
  const head = ["", "work", "unit", "who", "median [min–max]", "ours ÷ it", "target", ""];
  return table(head, rows.flatMap(linesOf)).join("\n");
}

function linesOf(row: Row): string[][] {
  const { id, work, unit, better, ours, others, bound } = row;
  const sign = better === "more" ? "≥" : "≤";
  const verdict = (value: number, target: number | null): string[] => {
    if (target === null) return ["", ""];
    return [`${sign} ${target}`, isReached(better, value, target) ? "reached" : "NOT REACHED"];
  };
  const own = ours.length === 0 ? ["", ""] : verdict(median(ours), bound);
  const best = others.length > 1 ? bestOf(row) : null;
  return [
    [id, work, unit, "millrace", spread(ours), "", ...own],
    ...others.map((other) => [
      "",
      "",
      "",
      other === best ? `${other.name} (best)` : other.name,
      spread(other.values),
      spread(other.ratios, 2),
      ...(other.ratios.length === 0 ? ["", ""] : verdict(median(other.ratios), other.target)),
    ]),
  ];
}

function bestOf({ others, better }: Row): Other | undefined {
  const present = others.filter(({ values }) => values.length > 0);
  const sorted = present.toSorted((left, right) => median(left.values) - median(right.values));
  return better === "more" ? sorted.at(-1) : sorted[0];
}

/** `median [min–max]`. */
function spread(values: readonly number[], digits = digitsFor(values)): string {
  if (values.length === 0) return "–";
  const show = (value: number): string =>
    value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${show(median(values))} [${show(Math.min(...values))}–${show(Math.max(...values))}]`;
}

function digitsFor(values: readonly number[]): number {
  const size = median(values);
  if (size >= 100) return 0;
  return size >= 10 ? 1 : 2;
}
