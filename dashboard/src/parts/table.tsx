/**
 * Tables. A real table with head cells; on narrow screens each row becomes an item by style alone.
 * The cursor moves with j and k, x selects, Enter opens.
 */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { useKeys } from "../lib/keys.ts";
import { go } from "../lib/router.ts";
import { useStill } from "../lib/steady.ts";
import { Icon } from "./icon.tsx";
import { nextOrder, orderOf, type Ranked } from "./order.ts";

/** With a `rank`, a table that has an order can be ordered by the column. */
export interface Column<Row> extends Ranked<Row> {
  readonly head: ComponentChildren;
  readonly cell: (row: Row) => ComponentChildren;
  /** Right, for numbers and lengths of time. */
  readonly isNumber?: boolean;
  /** Leaves first when there is little room. */
  readonly isSecondary?: boolean;
  /** The name of the row: a head cell. One column has it. */
  readonly isName?: boolean;
  /** A class that gives the width. */
  readonly width?: string;
}

export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly set: (ids: ReadonlySet<string>) => void;
}

/** The order that an address has, such as `-run`. The owner of the rows puts them in order. */
export interface TableOrder {
  readonly text: string | undefined;
  readonly set: (text: string) => void;
}

export function Table<Row>(props: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Where Enter and a click lead. */
  hrefOf?: (row: Row) => string;
  selection?: Selection;
  order?: TableOrder;
  /** Keys for the row under the cursor, such as `r`. */
  rowKeys?: Readonly<Record<string, (row: Row) => void>>;
  /** The rows come in another order at every answer: they keep their places under the pointer. */
  still?: boolean;
  class?: string;
}): JSX.Element {
  const { columns, keyOf, hrefOf, selection, rowKeys = {} } = props;
  const held = useStill(props.rows, keyOf);
  const rows = props.still === true ? held.rows : props.rows;
  const [cursor, setCursor] = useState<string | null>(null);
  const at = rows.findIndex((row) => keyOf(row) === cursor);
  const move = (by: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (row === undefined) return;
    setCursor(keyOf(row));
    document.getElementById(`row-${keyOf(row)}`)?.scrollIntoView({ block: "nearest" });
  };
  const here = (act: (row: Row) => void) => (): void => {
    const row = rows[at];
    if (row !== undefined) act(row);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(hrefOf === undefined ? {} : { Enter: here((row) => go(hrefOf(row))) }),
    ...(selection === undefined
      ? {}
      : {
          x: here((row) => toggle(selection, [keyOf(row)])),
          X: here((row) => toggle(selection, rangeTo(rows.map(keyOf), selection, keyOf(row)))),
        }),
    ...Object.fromEntries(Object.entries(rowKeys).map(([key, act]) => [key, here(act)])),
  });
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={props.label}>
      {props.order !== undefined && <OrderChoice columns={columns} order={props.order} />}
      <table class={`table ${props.class ?? ""}`}>
        <thead>
          <tr>
            {selection !== undefined && (
              <th scope="col" class="c-select">
                <SelectAll ids={rows.map(keyOf)} selection={selection} />
              </th>
            )}
            {columns.map((column) => (
              <Head key={column.id} column={column} order={props.order} />
            ))}
          </tr>
        </thead>
        <tbody {...(props.still === true ? held.on : {})}>
          {rows.map((row) => (
            <TableRow
              key={keyOf(row)}
              row={row}
              id={keyOf(row)}
              columns={columns}
              isCursor={keyOf(row) === cursor}
              {...(hrefOf === undefined ? {} : { href: hrefOf(row) })}
              {...(selection === undefined ? {} : { selection })}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Head<Row>(props: { column: Column<Row>; order: TableOrder | undefined }): JSX.Element {
  const { column, order } = props;
  if (order === undefined || column.rank === undefined) {
    return (
      <th scope="col" class={classOf(column)}>
        {column.head}
      </th>
    );
  }
  const now = orderOf(order.text);
  const isBy = now?.by === column.id;
  const sort = !isBy ? "none" : now.isDescending ? "descending" : "ascending";
  return (
    <th scope="col" class={classOf(column)} aria-sort={sort}>
      <button type="button" class="sort" onClick={() => order.set(nextOrder(now, column.id))}>
        {column.head}
        <Icon name={sort === "ascending" ? "up" : "down"} small />
      </button>
    </th>
  );
}

/** Where there is little room, no column has a head to press. */
function OrderChoice<Row>(props: {
  columns: readonly Column<Row>[];
  order: TableOrder;
}): JSX.Element {
  const { columns, order } = props;
  const now = orderOf(order.text)?.by ?? "";
  return (
    <label class="order-by">
      Order by
      <select
        class="field"
        value={now}
        onChange={({ currentTarget }) =>
          order.set(currentTarget.value === "" ? "" : `-${currentTarget.value}`)
        }
      >
        <option value="">the usual</option>
        {columns
          .filter(({ rank }) => rank !== undefined)
          .map(({ id, head }) => (
            <option key={id} value={id}>
              {head}
            </option>
          ))}
      </select>
    </label>
  );
}

function TableRow<Row>(props: {
  row: Row;
  id: string;
  columns: readonly Column<Row>[];
  isCursor: boolean;
  href?: string;
  selection?: Selection;
}): JSX.Element {
  const { row, id, columns, isCursor, href, selection } = props;
  const isSelected = selection?.ids.has(id) === true;
  const open = (event: MouseEvent): void => {
    const isOnControl = event.target instanceof Element && event.target.closest("a, button, input");
    const isReading = (getSelection()?.toString() ?? "") !== "";
    if (href !== undefined && !isOnControl && !isReading) go(href);
  };
  return (
    <tr
      id={`row-${id}`}
      class={`${isCursor ? "cursor" : ""}${href === undefined ? "" : " opens"}`}
      data-selected={isSelected}
      onClick={open}
    >
      {selection !== undefined && (
        <td class="c-select">
          <input
            type="checkbox"
            class="box"
            aria-label={`Select ${id}`}
            checked={isSelected}
            onChange={() => toggle(selection, [id])}
          />
        </td>
      )}
      {columns.map((column) => {
        const Cell = column.isName === true ? "th" : "td";
        return (
          <Cell
            key={column.id}
            {...(column.isName === true ? { scope: "row" } : {})}
            class={classOf(column)}
            data-label={typeof column.head === "string" ? column.head : column.id}
          >
            {column.cell(row)}
          </Cell>
        );
      })}
    </tr>
  );
}

function SelectAll({ ids, selection }: { ids: readonly string[]; selection: Selection }) {
  const isAll = ids.length > 0 && ids.every((id) => selection.ids.has(id));
  return (
    <input
      type="checkbox"
      class="box"
      aria-label="Select all rows shown"
      checked={isAll}
      onChange={() => selection.set(isAll ? new Set() : new Set([...selection.ids, ...ids]))}
    />
  );
}

function toggle(selection: Selection, ids: readonly string[]): void {
  const chosen = new Set(selection.ids);
  const isOn = ids.every((id) => chosen.has(id));
  for (const id of ids) {
    if (isOn) chosen.delete(id);
    else chosen.add(id);
  }
  selection.set(chosen);
}

/** The rows from the last selected one to this one. */
function rangeTo(keys: readonly string[], { ids }: Selection, key: string): readonly string[] {
  const from = keys.findLastIndex((each) => ids.has(each));
  const to = keys.indexOf(key);
  if (from === -1) return [key];
  return keys.slice(Math.min(from, to), Math.max(from, to) + 1).filter((each) => !ids.has(each));
}

function classOf<Row>({ isNumber, isSecondary, width, isName }: Column<Row>): string {
  return [
    isNumber === true ? "num" : "",
    isSecondary === true ? "secondary" : "",
    isName === true ? "name" : "",
    width ?? "",
  ]
    .filter(Boolean)
    .join(" ");
}
