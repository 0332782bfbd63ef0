/** Numbers, times and lengths of time as text. Pure: the time is an argument. */

const NUMBERS = new Intl.NumberFormat("en");

export function numberText(value: number): string {
  return NUMBERS.format(value);
}

/** A count that may have stopped: `10,000+`. */
export function countText({ count, atLeast }: { count: number; atLeast: boolean }): string {
  return `${numberText(count)}${atLeast ? "+" : ""}`;
}

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
] as const;

/** At most two units: `4 min 12 s`. Clocks differ, so a negative length is shown as none. */
export function durationText(ms: number): string {
  const length = Math.max(0, ms);
  if (length < 1_000) return `${Math.round(length)} ms`;
  if (length < 10_000) return `${(Math.floor(length / 100) / 10).toString()} s`;
  const at = UNITS.findIndex(([size]) => length >= size);
  const [size, unit] = UNITS[at] ?? [1_000, "s"];
  const large = Math.floor(length / size);
  const next = UNITS[at + 1];
  const small = next === undefined ? 0 : Math.floor((length % size) / next[0]);
  return small === 0 || next === undefined
    ? `${large} ${unit}`
    : `${large} ${unit} ${small} ${next[1]}`;
}

/** Relative to now: `12 s ago`, `in 4 min`. */
export function relativeText(at: number, now: number): string {
  const distance = at - now;
  if (Math.abs(distance) < 1_000) return "now";
  const text = oneUnit(Math.abs(distance));
  return distance < 0 ? `${text} ago` : `in ${text}`;
}

function oneUnit(ms: number): string {
  const [size, unit] = UNITS.find(([each]) => ms >= each) ?? [1_000, "s"];
  return `${Math.floor(ms / size)} ${unit}`;
}

/** The full time with its zone: `2026-11-18 14:03:22.120 UTC`. */
export function momentText(at: number, zone: "local" | "utc"): string {
  const date = new Date(at);
  if (zone === "utc") return `${date.toISOString().replace("T", " ").replace("Z", "")} UTC`;
  const offset = -date.getTimezoneOffset();
  const local = new Date(at + offset * 60_000).toISOString().replace("T", " ").replace("Z", "");
  const sign = offset < 0 ? "-" : "+";
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  return `${local} ${sign}${two(hours)}:${two(minutes)}`;
}

/** Hours and minutes, for axes and sentences: `14:03`. */
export function clockText(at: number, zone: "local" | "utc"): string {
  return momentText(at, zone).slice(11, 16);
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

const BYTES = ["B", "KB", "MB", "GB", "TB"];

export function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), BYTES.length - 1);
  const value = bytes / 1_024 ** power;
  return `${value >= 10 || power === 0 ? Math.round(value) : value.toFixed(1)} ${BYTES[power]}`;
}

export function percentText(share: number): string {
  const percent = share * 100;
  return `${percent >= 10 || percent === 0 ? Math.round(percent) : percent.toFixed(1)} %`;
}

/** The end of an id: ids begin with the time, and the first letters look alike. */
export function shortId(id: string): string {
  return `…${id.slice(-6)}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}
