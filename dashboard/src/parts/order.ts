/** The order of the rows of a table, by the value of a column. Pure. */

/** A value to order by; null when there is none yet. */
export type Rank = number | string | null;

export interface Ranked<Row> {
  readonly id: string;
  readonly rank?: (row: Row) => Rank;
}

/** As an address has it: `type`, or `-run` for the highest first. */
export interface Order {
  readonly by: string;
  readonly isDescending: boolean;
}

export function orderOf(text: string | undefined): Order | null {
  if (text === undefined || text === "") return null;
  return { by: text.replace(/^-/, ""), isDescending: text.startsWith("-") };
}

/** What a press on the head of a column asks for: the highest first, then the lowest. */
export function nextOrder(now: Order | null, by: string): string {
  return now?.by === by && now.isDescending ? by : `-${by}`;
}

/** Rows without a value come last in both directions; equal rows keep their places. */
export function inOrder<Row>(
  rows: readonly Row[],
  columns: readonly Ranked<Row>[],
  order: Order | null,
): readonly Row[] {
  const rank = columns.find(({ id }) => id === order?.by)?.rank;
  if (order === null || rank === undefined) return rows;
  const sign = order.isDescending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [left, right] = [rank(one), rank(other)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return left === right ? 0 : sign * (left < right ? -1 : 1);
  });
}
