/**
 * Minutes: sums and histograms of ended runs. A fold adds each run to the row of its minute and to
 * the row of its hour, so that a long stretch of time is read from few rows.
 */
import {
  decodeHistogram,
  encodeHistogram,
  histogramOf,
  mergeHistograms,
  wholeMs,
  type Histogram,
} from "../../core/metrics/histogram.ts";
import type { MinutesAnswer, MinutesQuery, MinuteFigures } from "../types/minutes.ts";
import { outcomeCodec } from "./codes.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The number of minutes of each kind of row. */
const SPANS = [1, 60] as const;

/** The maximum of outbox rows that one fold moves. */
export const FOLD_ROWS_MAX = 500;
/** The maximum of rows that one read takes from each of its four parts. */
export const MINUTE_ROWS_MAX = 20_000;

/** A row of the outbox. Lists of milliseconds, one element per run. */
export interface OutboxRow {
  readonly at: number;
  readonly type: number;
  readonly lane: number;
  readonly outcome: number;
  readonly waits: readonly (number | null)[];
  readonly runs: readonly (number | null)[];
}

/** A row of the table `minute`. */
export interface StoredMinute {
  readonly span: number;
  readonly start: number;
  readonly type: number;
  readonly lane: number;
  readonly outcome: number;
  readonly count: number;
  readonly wait_ms: number;
  readonly run_ms: number;
  readonly waits: string;
  readonly runs: string;
}

/** A row of the outbox for each type, lane and outcome of runs that end with one commit. */
export function outboxRows(
  at: number,
  ends: readonly (Omit<OutboxRow, "at" | "waits" | "runs"> & {
    readonly waitMs: number;
    readonly runMs: number;
  })[],
): readonly OutboxRow[] {
  const groups = Map.groupBy(ends, ({ type, lane, outcome }) => `${type} ${lane} ${outcome}`);
  return [...groups.values()].map((group) => {
    const { type, lane, outcome } = group[0]!;
    const waits = group.map(({ waitMs }) => wholeMs(waitMs));
    return { at, type, lane, outcome, waits, runs: group.map(({ runMs }) => wholeMs(runMs)) };
  });
}

/** Sums of counted runs. */
interface Sums {
  readonly count: number;
  readonly waitMs: number;
  readonly runMs: number;
  readonly waits: Histogram;
  readonly runs: Histogram;
}

function sumsOf({ waits, runs }: Pick<OutboxRow, "waits" | "runs">): Sums {
  const [waited, ran] = [waits, runs].map((list) => list.map((ms) => wholeMs(ms ?? 0)));
  return {
    count: waits.length,
    waitMs: total(waited!),
    runMs: total(ran!),
    waits: histogramOf(waited!),
    runs: histogramOf(ran!),
  };
}

function storedSums({ count, wait_ms: waitMs, run_ms: runMs, waits, runs }: StoredMinute): Sums {
  return { count, waitMs, runMs, waits: decodeHistogram(waits), runs: decodeHistogram(runs) };
}

function total(list: readonly number[]): number {
  return list.reduce((sum, ms) => sum + ms, 0);
}

function added(one: Sums | undefined, other: Sums): Sums {
  if (one === undefined) return other;
  return {
    count: one.count + other.count,
    waitMs: one.waitMs + other.waitMs,
    runMs: one.runMs + other.runMs,
    waits: mergeHistograms(one.waits, other.waits),
    runs: mergeHistograms(one.runs, other.runs),
  };
}

type MinuteKey = Pick<StoredMinute, "span" | "start" | "type" | "lane" | "outcome">;

/** What a fold adds to the table `minute`. */
export class Fold {
  readonly #sums = new Map<string, { readonly key: MinuteKey; readonly sums: Sums }>();

  constructor(rows: readonly OutboxRow[]) {
    for (const row of rows) {
      const sums = sumsOf(row);
      for (const span of SPANS) {
        const { type, lane, outcome } = row;
        const start = floor(row.at, span * MINUTE_MS);
        this.#add({ span, start, type, lane, outcome }, sums);
      }
    }
  }

  /** The rows to read before they are replaced, as JSON. */
  get keys(): string {
    return JSON.stringify([...this.#sums.values()].map(({ key }) => key));
  }

  /** The new rows as JSON: what was stored before, and what is added. */
  rows(stored: readonly StoredMinute[]): string {
    for (const row of stored) {
      const { span, start, type, lane, outcome } = row;
      this.#add({ span, start, type, lane, outcome }, storedSums(row));
    }
    const rows = [...this.#sums.values()].map(({ key, sums }) => ({
      ...key,
      count: sums.count,
      wait_ms: sums.waitMs,
      run_ms: sums.runMs,
      waits: encodeHistogram(sums.waits),
      runs: encodeHistogram(sums.runs),
    }));
    return JSON.stringify(rows);
  }

  #add(key: MinuteKey, more: Sums): void {
    const name = Object.values(key).join(" ");
    this.#sums.set(name, { key, sums: added(this.#sums.get(name)?.sums, more) });
  }
}

/**
 * The parts of a read: minutes up to `hours_from`, hours up to `hours_to`, then minutes again, and
 * the outbox. Hours are read where a step has whole hours.
 */
export interface ReadParts {
  readonly since: number;
  readonly hours_from: number;
  readonly hours_to: number;
  readonly until: number;
}

export function partsOf({ from, to, stepMs }: MinutesQuery): ReadParts {
  const [first, last] = [floor(from, MINUTE_MS), ceiling(to, MINUTE_MS)];
  const [firstHour, lastHour] = [ceiling(first, HOUR_MS), floor(last, HOUR_MS)];
  const hasHours = firstHour < lastHour && (stepMs === null || stepMs % HOUR_MS === 0);
  if (!hasHours) return { since: first, hours_from: first, hours_to: first, until: last };
  return { since: first, hours_from: firstHour, hours_to: lastHour, until: last };
}

/** A row of a read. Span 0: a row of the outbox, whose lists have one element per run. */
export type ReadRow = StoredMinute;

/** Sums the rows of a read by step, type, lane and outcome. */
export function minutesAnswer(
  names: { text(id: number): string },
  query: MinutesQuery,
  rows: readonly ReadRow[],
): MinutesAnswer {
  const { since } = partsOf(query);
  const { stepMs } = query;
  const groups = new Map<string, { readonly row: ReadRow; readonly at: number; sums: Sums }>();
  for (const row of rows) {
    const at = stepMs === null ? since : floor(row.start, stepMs);
    const name = [at, row.type, row.lane, row.outcome].join(" ");
    const sums = row.span === 0 ? sumsOf(listsOf(row)) : storedSums(row);
    groups.set(name, { row, at, sums: added(groups.get(name)?.sums, sums) });
  }
  const figures = [...groups.values()].map(({ row, at, sums }) => ({
    at,
    type: names.text(row.type),
    lane: names.text(row.lane),
    outcome: outcomeCodec.word(row.outcome),
    ...sums,
  }));
  return { figures: figures.toSorted(byStep), isCutShort: isCutShort(query, rows) };
}

function listsOf({ waits, runs }: ReadRow): Pick<OutboxRow, "waits" | "runs"> {
  return { waits: JSON.parse(waits), runs: JSON.parse(runs) };
}

/** A part with as many rows as the limit may have more. */
function isCutShort(query: MinutesQuery, rows: readonly ReadRow[]): boolean {
  const { hours_from: hoursFrom } = partsOf(query);
  const isHead = ({ span, start }: ReadRow): boolean => span === 1 && start < hoursFrom;
  const parts = [
    rows.filter(isHead),
    rows.filter((row) => row.span === 1 && !isHead(row)),
    rows.filter(({ span }) => span === 60),
    rows.filter(({ span }) => span === 0),
  ];
  return parts.some(({ length }) => length >= MINUTE_ROWS_MAX);
}

function byStep(one: MinuteFigures, other: MinuteFigures): number {
  if (one.at !== other.at) return one.at - other.at;
  const [left, right] = [one, other].map(
    ({ type, lane, outcome }) => `${type}\0${lane}\0${outcome}`,
  );
  return left! < right! ? -1 : 1;
}

function floor(at: number, unit: number): number {
  return Math.floor(at / unit) * unit;
}

function ceiling(at: number, unit: number): number {
  return Math.ceil(at / unit) * unit;
}
