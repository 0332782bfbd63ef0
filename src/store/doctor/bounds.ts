/**
 * How much doctor examines unless it is asked to read everything. A check that reaches its maximum
 * is named, so that a part is not taken for the whole.
 */
import { CATALOGUE } from "./catalogue.ts";

export interface ExamineBounds {
  /** Rows of each table that drives a check: the oldest; of letters and failures, the newest. */
  readonly rows: number;
  /** Keys of jobs, from the oldest on. */
  readonly keys: number;
}

export const EXAMINE_BOUNDS: ExamineBounds = { rows: 5_000, keys: 100_000 };

/** Bounds that no installation reaches. */
export const NO_BOUNDS: ExamineBounds = {
  rows: Number.MAX_SAFE_INTEGER - 1,
  keys: Number.MAX_SAFE_INTEGER,
};

/** Checks of a table that has more rows than were examined. */
export interface CutShort {
  readonly table: string;
  readonly examined: number;
  readonly checks: readonly string[];
}

/** What the query `examined_tables` answers. */
export type TableSizes = Readonly<Record<ExaminedTable, number>> & {
  readonly first_key: number;
  readonly last_key: number;
};

type ExaminedTable =
  | "scheduled"
  | "ready"
  | "blocked"
  | "dedup"
  | "cancel_request"
  | "lock"
  | "dependency"
  | "failed"
  | "dead_letter"
  | "ended_run";

const OF_PLACES: readonly string[] = [
  "place without job",
  "place against ledger",
  CATALOGUE.places_against_job.name,
  CATALOGUE.unheld_dedup.name,
  CATALOGUE.shared_dedup.name,
];

/** The checks that examine the rows of each table. */
const CHECKS: Readonly<Record<ExaminedTable, readonly string[]>> = {
  scheduled: OF_PLACES,
  ready: OF_PLACES,
  blocked: [...OF_PLACES, CATALOGUE.waits_without_dependencies.name],
  dedup: [CATALOGUE.stale_dedup.name],
  cancel_request: [CATALOGUE.stale_cancel_requests.name],
  lock: [CATALOGUE.locks_without_run.name],
  dependency: [CATALOGUE.dependencies_without_wait.name],
  failed: [CATALOGUE.failed_without_letter.name],
  dead_letter: [CATALOGUE.letters_without_failure.name],
  ended_run: [CATALOGUE.ended_runs_without_worker.name],
};

export interface Extent {
  /** Parameters of the queries. */
  readonly examined: number;
  readonly lastKey: number;
  readonly cutShort: readonly CutShort[];
}

/** What a deep check examines: all rows. */
export const WHOLE: Extent = {
  examined: NO_BOUNDS.rows,
  lastKey: NO_BOUNDS.keys,
  cutShort: [],
};

/** How far the checks reach. `sizes` counts up to one row more than the bound. */
export function extentOf(sizes: TableSizes, { rows, keys }: ExamineBounds): Extent {
  const lastKey = Math.min(sizes.first_key + keys - 1, Number.MAX_SAFE_INTEGER);
  const jobs = { table: "job", examined: keys, checks: ["lost job"] };
  const cutShort: CutShort[] = sizes.last_key > lastKey ? [jobs] : [];
  for (const table in CHECKS) {
    if (!isExamined(table) || sizes[table] <= rows) continue;
    const name = table === "failed" ? "attempt" : table;
    cutShort.push({ table: name, examined: rows, checks: CHECKS[table] });
  }
  return { examined: rows, lastKey, cutShort };
}

/** The extent where the sizes of the tables are not known. */
export function unknownExtent({ rows, keys }: ExamineBounds): Extent {
  return { examined: rows, lastKey: keys, cutShort: [] };
}

function isExamined(table: string): table is ExaminedTable {
  return Object.hasOwn(CHECKS, table);
}
