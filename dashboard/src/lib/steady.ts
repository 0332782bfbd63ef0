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

/** What a list does while the pointer or the focus is on it. */
export interface Still<Row> {
  readonly rows: readonly Row[];
  /** For the element around the rows. */
  readonly on: Readonly<Record<string, () => void>>;
}

/**
 * For a short list that is sorted anew at every answer: its rows keep their places, with their
 * newest content, while the pointer or the focus is on one of them.
 */
export function useStill<Row>(fresh: readonly Row[], keyOf: (row: Row) => string): Still<Row> {
  const held = useRef<readonly Row[] | null>(null);
  const last = useRef<readonly Row[]>(fresh);
  const [, redraw] = useState(0);
  const on = useRef({ pointer: false, focus: false });
  const change = (what: "pointer" | "focus", isOn: boolean): void => {
    on.current[what] = isOn;
    const isHeld = on.current.pointer || on.current.focus;
    if (isHeld && held.current === null) held.current = last.current;
    if (isHeld || held.current === null) return;
    held.current = null;
    redraw((count) => count + 1);
  };
  const rows = held.current === null ? fresh : inPlace(held.current, fresh, keyOf);
  if (held.current !== null) held.current = rows;
  last.current = rows;
  return {
    rows,
    on: {
      onPointerEnter: () => change("pointer", true),
      onPointerLeave: () => change("pointer", false),
      onFocusIn: () => change("focus", true),
      onFocusOut: () => change("focus", false),
    },
  };
}

/**
 * Each row in its place, with fresh content. A row that is missing stays as it was last seen: the
 * rows below it would move. New rows come behind the others.
 */
export function inPlace<Row>(
  shown: readonly Row[],
  fresh: readonly Row[],
  keyOf: (row: Row) => string,
): readonly Row[] {
  const byKey = new Map(fresh.map((row) => [keyOf(row), row]));
  const known = new Set(shown.map(keyOf));
  const added = fresh.filter((row) => !known.has(keyOf(row)));
  return [...shown.map((row) => byKey.get(keyOf(row)) ?? row), ...added];
}
