/** Turns instants into the local times of a time zone and back. */

const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;

export interface TimeZone {
  /** The local time minus UTC at an instant, in milliseconds. */
  offsetAt(instant: number): number;
  /** The instants with this local time, the first one first. None: the clocks skip it. */
  instantsOf(local: number): readonly number[];
  /** For a local time that the clocks skip: the first instant after the skipped hour. */
  instantAfterGap(local: number): number;
  /** The first instant after `instant`, within a day, at which the offset is another one. */
  changeAfter(instant: number): number | null;
}

/** True for an IANA name that this Node.js knows. An offset such as `+01:00` is no name. */
export function isTimeZone(name: unknown): boolean {
  if (typeof name !== "string" || /^[+-]/.test(name)) return false;
  try {
    return formatOf(name) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

/**
 * A local time is written as the instant at which UTC shows it. Two changes of the clocks are at
 * least two days apart.
 */
export function timeZone(name: string): TimeZone {
  const format = formatOf(name);
  const offsetAt = (instant: number): number => {
    const whole = Math.floor(instant / SECOND_MS) * SECOND_MS;
    const [month, day, year, ...time] = format.format(whole).split(/\D+/).map(Number);
    const [hour, minute, second] = time;
    return Date.UTC(year!, month! - 1, day, hour, minute, second) - whole;
  };
  /** The first second of (from, to] with another offset than `from`. */
  const changeWithin = (from: number, to: number): number => {
    const before = offsetAt(from);
    let [low, high] = [from, to];
    while (high - low > SECOND_MS) {
      const middle = low + Math.round((high - low) / 2 / SECOND_MS) * SECOND_MS;
      if (offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    return high;
  };
  return {
    offsetAt,
    instantsOf(local) {
      const offsets = new Set([offsetAt(local - DAY_MS), offsetAt(local + DAY_MS)]);
      return [...offsets]
        .filter((offset) => offsetAt(local - offset) === offset)
        .map((offset) => local - offset)
        .toSorted((one, other) => one - other);
    },
    instantAfterGap(local) {
      const [before, after] = [offsetAt(local - DAY_MS), offsetAt(local + DAY_MS)];
      return changeWithin(local - after, local - before);
    },
    changeAfter(instant) {
      const from = Math.floor(instant / SECOND_MS) * SECOND_MS;
      const isSame = offsetAt(from) === offsetAt(from + DAY_MS);
      return isSame ? null : changeWithin(from, from + DAY_MS);
    },
  };
}

function formatOf(name: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-US", {
    timeZone: name,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
}
