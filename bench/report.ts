/** Figures as a table: medians with their spread, never a single run. */

export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly ours: readonly number[];
  readonly bare: readonly number[];
  /** Ours over bare, round by round. */
  readonly ratios: readonly number[];
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

export function table(rows: readonly Row[]): string {
  const lines = rows.map(({ name, unit, ours, bare, ratios }) => [
    name,
    spread(ours, 0),
    bare.length > 0 ? spread(bare, 0) : "",
    ratios.length > 0 ? spread(ratios, 2) : "",
    unit,
  ]);
  const all = [["", "ours", "bare loop", "ratio", "unit"], ...lines];
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(...all.map((line) => (line[column] ?? "").length)),
  );
  return all
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .join("\n");
}

/** `median [min–max]`. */
function spread(values: readonly number[], digits: number): string {
  const show = (value: number): string =>
    value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${show(median(values))} [${show(Math.min(...values))}–${show(Math.max(...values))}]`;
}
