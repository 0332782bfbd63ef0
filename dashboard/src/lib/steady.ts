/** Lists that do not move under the pointer: new rows wait until a person asks for them. */
import { useRef, useState } from "preact/hooks";

export interface Steady<Row> {
  readonly rows: readonly Row[];
  /** How many rows wait. */
  readonly added: number;
  /** Shows them. */
  readonly accept: () => void;
}

/**
 * The rows in the order in which they were first shown, with their newest content. `key` names the
 * list: another list is shown at once.
 */
export function useSteady<Row>(
  key: string,
  fresh: readonly Row[] | null,
  keyOf: (row: Row) => string,
  isBeyond?: (row: Row, last: Row) => boolean,
): Steady<Row> {
  const held = useRef<{ key: string; rows: readonly Row[] }>({ key: "", rows: [] });
  const [, redraw] = useState(0);
  if (fresh === null) return { rows: [], added: 0, accept: () => {} };
  const isNew = held.current.key !== key || held.current.rows.length === 0;
  const { rows, added } = isNew
    ? { rows: fresh, added: 0 }
    : settled(held.current.rows, fresh, keyOf, isBeyond);
  held.current = { key, rows };
  const accept = (): void => {
    held.current = { key, rows: fresh };
    redraw((count) => count + 1);
  };
  return { rows, added, accept };
}

/**
 * Shown rows with fresh content, and the number of fresh rows that are not shown. A shown row that
 * is missing is gone, unless it lies beyond the last row that was read.
 */
export function settled<Row>(
  shown: readonly Row[],
  fresh: readonly Row[],
  keyOf: (row: Row) => string,
  isBeyond: (row: Row, last: Row) => boolean = () => false,
): { readonly rows: readonly Row[]; readonly added: number } {
  const byKey = new Map(fresh.map((row) => [keyOf(row), row]));
  const last = fresh.at(-1);
  const rows = shown.flatMap((row) => {
    const found = byKey.get(keyOf(row));
    if (found !== undefined) return [found];
    return last !== undefined && isBeyond(row, last) ? [row] : [];
  });
  const kept = new Set(rows.map(keyOf));
  return { rows, added: fresh.filter((row) => !kept.has(keyOf(row))).length };
}
