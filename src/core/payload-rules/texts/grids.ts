/** Secrets in columns: the first row of a table says what stands below. */
import { secretInField, type Secret } from "../fields.ts";
import { secretNamed } from "../names.ts";
import { inSequence } from "../patterns.ts";

const DELIMITERS = [";", "\t", ",", "|"] as const;
const HEADER_LENGTH_MAX = 2_000;
/** The rows of a text that are read. */
const ROWS_MAX = 200;

const INSERT = inSequence(
  "i",
  /\binsert\s{1,4}into\s{1,4}[^\s(]{1,100}\s{0,4}\(([^()]{1,1000})\)/,
  /\s{0,4}values\s{0,4}\(([^()]{1,4000})\)/,
);

/** The columns and the first row of an `INSERT`. */
export function secretInserted(text: string): Secret | null {
  const [, columns, row] = INSERT.exec(text) ?? [];
  return columns === undefined
    ? null
    : secretInColumns(`${columns}\n${row}`.replaceAll(/\?|[$:@]\w+/g, ""));
}

/** A text of comma-separated values, or of another usual sign. */
export function secretInColumns(text: string): Secret | null {
  const end = text.indexOf("\n");
  if (end < 3 || end > HEADER_LENGTH_MAX) return null;
  const header = text.slice(0, end).trim();
  const delimiter = DELIMITERS.find((sign) => header.includes(sign));
  if (delimiter === undefined) return null;
  const names = cells(header, delimiter).map(secretNamed);
  if (names.every((name) => name === null)) return null;
  for (const row of text.slice(end + 1).split("\n", ROWS_MAX)) {
    const values = cells(row, delimiter);
    if (values.length !== names.length) continue;
    const found = names.map((name, column) => secretInField(name, values[column]!)).find(Boolean);
    if (found) return found;
  }
  return null;
}

function cells(row: string, delimiter: string): readonly string[] {
  return row.split(delimiter).map((cell) => cell.trim().replaceAll(/^["']|["']$/g, ""));
}
