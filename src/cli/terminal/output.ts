/** Formats the output of commands: tables for people, JSON for programs. */
import { formatDuration } from "../../core/duration.ts";
import type { JobView } from "../../api/client.ts";
import type { Fault } from "../../core/outcome.ts";
import { plain, plainJson } from "../../lib/plain-text.ts";

export type Format = "table" | "json" | "ndjson";

const ERROR_LENGTH_MAX = 80;
/** Below this width, the wrapped lines of a table cannot be read. */
const TABLE_WIDTH_MIN = 80;

/** One JSON document. */
export function json(value: unknown): string {
  return `${plainJson(JSON.stringify(value, null, 2))}\n`;
}

/** One JSON value on a line of its own. */
export function jsonLine(value: unknown): string {
  return `${plainJson(JSON.stringify(value))}\n`;
}

/**
 * Columns under their headings, as wide as their widest cell. On a narrow terminal that the table
 * does not fit, one block of lines for each row.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width: number = outputWidth(),
): string {
  const plainRows = rows.map((row) => row.map(plain));
  const cells = [headings, ...plainRows];
  const widths = headings.map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const isWide = lines.some((line) => line.length > width);
  if (width < TABLE_WIDTH_MIN && isWide) return blocks(headings, plainRows);
  return `${lines.join("\n")}\n`;
}

/** A table for a narrow terminal: one block for each row. Empty cells are left out. */
function blocks(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const texts = rows.map((row) =>
    row
      .map((cell, column) => ({ name: headings[column]?.toLowerCase() ?? "", cell }))
      .filter(({ cell }) => cell !== "")
      .map(({ name, cell }) => (name === "" ? `${cell}\n` : `${name}: ${cell}\n`))
      .join(""),
  );
  return texts.join("\n");
}

/** The columns of the terminal; a file and a pipe have any number. */
function outputWidth(): number {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 ? columns : Infinity;
}

/** One line for each property; properties that are `null` are left out. */
export function properties(pairs: readonly (readonly [string, string | null])[]): string {
  const shown = pairs.flatMap(([name, value]) => (value === null ? [] : [{ name, value }]));
  const width = Math.max(...shown.map(({ name }) => name.length));
  return shown.map(({ name, value }) => `${name.padEnd(width)}  ${plain(value)}\n`).join("");
}

export function timeOf(moment: Date | null): string | null {
  return moment === null ? null : moment.toISOString();
}

export function ageOf(moment: Date, now: number): string {
  return formatDuration(now - moment.getTime());
}

/** The attempts that were charged, and the attempt that is running. */
export function attemptNow({ attempts, state, startedAt }: JobView): number {
  return state === "running" && startedAt !== null ? attempts + 1 : attempts;
}

/** The first line of an error, short enough for a table. */
export function errorOf(error: Fault | null): string {
  if (error === null) return "";
  const [line = ""] = `${error.name}: ${error.message}`.split("\n");
  return line.length > ERROR_LENGTH_MAX ? `${line.slice(0, ERROR_LENGTH_MAX - 1)}…` : line;
}
