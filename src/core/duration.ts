/** Turns the durations and instants of users into whole milliseconds. */
import { MillraceError } from "./errors.ts";
import { shown } from "./text.ts";

/** A duration: a number of milliseconds, or a text with a unit such as `"30s"`. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

/** An instant: a Date, milliseconds since the epoch, or ISO 8601 text. */
export type Instant = Date | number | string;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", SECOND_MS],
  ["m", MINUTE_MS],
  ["h", HOUR_MS],
  ["d", DAY_MS],
]);

/** A hundred years. A longer duration is a mistake, and might overflow. */
export const DURATION_MS_MAX: number = 36_525 * DAY_MS;

/** A shorter snooze would keep a slot busy with starts and ends of runs. */
export const SNOOZE_MS_MIN = 100;

/** In the year 2255. In microseconds, this number is still exact in JavaScript. */
const INSTANT_MS_MAX = 9_000_000_000_000;

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/**
 * A date alone means midnight UTC. A time needs an offset, so that it does not depend on the time
 * zone of the host.
 */
const INSTANT =
  /^(\d{4})-(\d{2})-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Whole milliseconds from 0 to a hundred years. `name` is the name of the option in the error.
 */
export function durationMs(value: Duration, name: string): number {
  const ms = readDuration(value);
  if (ms !== null && ms >= 0 && ms <= DURATION_MS_MAX) return Math.round(ms);

  throw new MillraceError(
    "OPTION_INVALID",
    `${name} is ${shown(value)}, which is not a duration: ` +
      'give milliseconds such as 1500, or a text such as "90s", "5m" or "2h", up to 100 years.',
    { details: { option: name } },
  );
}

/** Whole milliseconds since the epoch. `name` is the name of the option in the error. */
export function instantMs(value: Instant, name: string): number {
  const ms = readInstant(value);
  if (ms >= 0 && ms <= INSTANT_MS_MAX) return Math.round(ms);

  throw new MillraceError(
    "OPTION_INVALID",
    `${name} is ${shown(value)}, which is not an instant: give a Date, milliseconds since 1970, ` +
      'or ISO text with an offset such as "2026-11-15T10:00:00Z".',
    { details: { option: name } },
  );
}

/**
 * The milliseconds of a duration, or the milliseconds until an instant, at least 0. A number is a
 * duration. `null` for any other value, because a bad `retryAfter` must not cause a second error.
 */
export function waitMs(value: unknown, nowMs: number): number | null {
  const ms = readDuration(value) ?? readInstant(value) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(0, Math.round(ms)), DURATION_MS_MAX) : null;
}

/** A short text with the two largest units, such as `1 h 5 min`. */
export function formatDuration(ms: number): string {
  const wholeMs = Math.max(0, Math.trunc(ms));
  if (wholeMs < SECOND_MS) return `${wholeMs} ms`;
  if (wholeMs < MINUTE_MS) return `${Math.trunc(wholeMs / 100) / 10} s`;
  if (wholeMs < HOUR_MS) return twoUnits(wholeMs, [MINUTE_MS, "min"], [SECOND_MS, "s"]);
  if (wholeMs < DAY_MS) return twoUnits(wholeMs, [HOUR_MS, "h"], [MINUTE_MS, "min"]);
  return twoUnits(wholeMs, [DAY_MS, "d"], [HOUR_MS, "h"]);
}

function readDuration(value: unknown): number | null {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return null;

  const [, count, unit = ""] = DURATION.exec(value) ?? [];
  const unitMs = UNIT_MS.get(unit);
  return unitMs === undefined ? null : Number(count) * unitMs;
}

function readInstant(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value === "string") return readIsoText(value);
  return value instanceof Date ? value.getTime() : Number.NaN;
}

function readIsoText(text: string): number {
  const [, year, month] = INSTANT.exec(text) ?? [];
  if (year === undefined) return Number.NaN;

  // Date.parse would read the 30th of February as a day in March.
  const dayMs = Date.parse(text.slice(0, 10));
  const lastDayMs = Date.UTC(Number(year), Number(month), 0);
  return dayMs <= lastDayMs ? Date.parse(text) : Number.NaN;
}

type TimeUnit = readonly [ms: number, name: string];

function twoUnits(ms: number, [largeMs, large]: TimeUnit, [smallMs, small]: TimeUnit): string {
  const rest = Math.trunc((ms % largeMs) / smallMs);
  const first = `${Math.trunc(ms / largeMs)} ${large}`;
  return rest === 0 ? first : `${first} ${rest} ${small}`;
}
