/** The figures of runs as series for charts. Pure: the time is an argument. */
import type { Quantiles, RunMetrics } from "../../api/operations.gen.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export interface Range {
  readonly id: string;
  readonly text: string;
  /** In the head of a column: "1 hour". */
  readonly name: string;
  /** In a sentence: "the last 1 hour". */
  readonly phrase: string;
  readonly lengthMs: number;
  /** The API starts steps at multiples of their length. No range has more than 30 steps. */
  readonly stepMs: number;
  /**
   * A stretch that has ended, in hours from the midnight of the day of its end: from 18:00 to
   * 06:00 of the newest night that is over. Without it, the range ends now.
   */
  readonly hours?: readonly [from: number, to: number];
}

export const RANGES: readonly Range[] = [
  rangeOfLast("15m", "15 min", "15 min", 15 * MINUTE_MS, MINUTE_MS),
  rangeOfLast("1h", "1 h", "1 hour", HOUR_MS, 2 * MINUTE_MS),
  rangeOfLast("6h", "6 h", "6 hours", 6 * HOUR_MS, 15 * MINUTE_MS),
  rangeOfLast("24h", "24 h", "24 hours", 24 * HOUR_MS, HOUR_MS),
  rangeOfLast("7d", "7 d", "7 days", 7 * 24 * HOUR_MS, 6 * HOUR_MS),
  past("night", "Last night", "last night, 18:00 to 06:00", [-6, 6], HOUR_MS / 2),
  past("yesterday", "Yesterday", "yesterday", [-24, 0], HOUR_MS),
];

/** Distances on an axis of time that read well: 30 s, 5 min, 2 h. */
export const DURATION_STEPS: readonly number[] = [
  ...[1, 10, 100].flatMap((ms) => [ms, 2 * ms, 5 * ms]),
  ...[1, 2, 5, 10, 20, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 20, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 4, 8, 12, 24, 48, 168].map((hours) => hours * HOUR_MS),
];

export function rangeOf(id: string | undefined): Range {
  return RANGES.find((each) => each.id === id) ?? RANGES[1]!;
}

/** "in the last 1 hour", "last night, 18:00 to 06:00". */
export function whenText({ hours, phrase }: Range): string {
  return hours === undefined ? `in ${phrase}` : phrase;
}

/** The steps of a range and its end, which is null where the range ends now. */
export interface Stretch {
  /** The oldest first. The last step of a range that ends now has not ended. */
  readonly starts: readonly number[];
  readonly to: number | null;
}

export function stretchOf(range: Range, now: number, zone: "local" | "utc"): Stretch {
  const { lengthMs, stepMs, hours } = range;
  if (hours === undefined) {
    const last = Math.floor(now / stepMs) * stepMs;
    return { starts: stepsTo(last, Math.round(lengthMs / stepMs), stepMs), to: null };
  }
  const day = hourOf(now, hours[1], zone) <= now ? 0 : -24;
  const from = hourOf(now, hours[0] + day, zone);
  const to = hourOf(now, hours[1] + day, zone);
  const last = Math.ceil(to / stepMs) * stepMs - stepMs;
  const first = Math.floor(from / stepMs) * stepMs;
  return { starts: stepsTo(last, (last - first) / stepMs + 1, stepMs), to };
}

function stepsTo(last: number, count: number, stepMs: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => last - (count - 1 - index) * stepMs);
}

/** The moment so many hours after the midnight before `now`, by the clock on the wall. */
function hourOf(now: number, hour: number, zone: "local" | "utc"): number {
  const date = new Date(now);
  if (zone === "utc") date.setUTCHours(hour, 0, 0, 0);
  else date.setHours(hour, 0, 0, 0);
  return date.getTime();
}

type Group = RunMetrics["groups"][number];

export interface Figures {
  readonly wait: Quantiles;
  readonly run: Quantiles;
}

/** A step of a chart, over all types and lanes. */
export interface Step {
  readonly at: number;
  readonly runs: number;
  readonly perMinute: number;
  readonly failedPerMinute: number;
  readonly figures: Figures;
}

const NO_QUANTILES: Quantiles = { mean: null, p50: null, p95: null, p99: null };
export const NO_FIGURES: Figures = { wait: NO_QUANTILES, run: NO_QUANTILES };

/** The API leaves steps without runs out. */
export function stepsOf(starts: readonly number[], steps: RunMetrics["steps"]): readonly Step[] {
  const byStart = new Map(steps.map((step) => [Date.parse(step.at), step]));
  return starts.map((at) => {
    const step = byStart.get(at);
    if (step === undefined) {
      return { at, runs: 0, perMinute: 0, failedPerMinute: 0, figures: NO_FIGURES };
    }
    const { runs, wait, run } = step;
    const perMinute = step.perSecond * 60;
    const failedPerMinute = (perMinute * failedRuns(step)) / Math.max(1, runs);
    return { at, runs, perMinute, failedPerMinute, figures: { wait, run } };
  });
}

export function failedRuns({ outcomes }: Pick<Group, "outcomes">): number {
  return outcomes.failed + outcomes.timed_out + outcomes.crashed;
}

export interface TypeRow extends Group {
  /** Ended runs per minute in each step: a rate, because the last step is not over. */
  readonly trend: readonly number[];
}

/** The groups of a whole range with a trend each; the busiest first. */
export function typeRows(
  whole: readonly Group[],
  stepped: readonly Group[],
  starts: readonly number[],
): readonly TypeRow[] {
  return whole
    .map((group) => {
      const own = stepped.filter(({ type, lane }) => type === group.type && lane === group.lane);
      const rates = new Map(own.map((each) => [Date.parse(each.at), each.perSecond * 60]));
      return { ...group, trend: starts.map((at) => rates.get(at) ?? 0) };
    })
    .toSorted((one, other) => other.runs - one.runs || (one.type < other.type ? -1 : 1));
}

export interface LaneTrend {
  /** Over the whole range. */
  readonly perMinute: number;
  readonly trend: readonly number[];
}

/** The rates of all types of a lane, added up. */
export function laneTrends(types: readonly TypeRow[]): ReadonlyMap<string, LaneTrend> {
  const lanes = new Map<string, LaneTrend>();
  for (const { lane, perSecond, trend } of types) {
    const before = lanes.get(lane);
    lanes.set(lane, {
      perMinute: (before?.perMinute ?? 0) + perSecond * 60,
      trend: trend.map((rate, index) => rate + (before?.trend[index] ?? 0)),
    });
  }
  return lanes;
}

/** The newest step with a run: what is true now. */
export function newestOf(steps: readonly Step[]): Step | null {
  return steps.findLast(({ runs }) => runs > 0) ?? null;
}

/** A rate for axes and tables: `1,940`, `12`, `3.4`. */
export function rateText(perMinute: number): string {
  if (perMinute === 0) return "0";
  if (perMinute < 0.1) return "< 0.1";
  const digits = perMinute < 10 ? 1 : 0;
  return perMinute.toLocaleString("en", { maximumFractionDigits: digits });
}

/** The jobs that were created in a stretch, in the language of the query bar. */
export function createdBetween(from: number, to: number): string {
  return `created>${new Date(from).toISOString()} created<${new Date(to).toISOString()}`;
}

function rangeOfLast(
  id: string,
  text: string,
  name: string,
  lengthMs: number,
  stepMs: number,
): Range {
  return { id, text, name, phrase: `the last ${name}`, lengthMs, stepMs };
}

function past(
  id: string,
  name: string,
  phrase: string,
  hours: readonly [number, number],
  stepMs: number,
): Range {
  const lengthMs = (hours[1] - hours[0]) * HOUR_MS;
  return { id, text: name, name, phrase, hours, lengthMs, stepMs };
}
