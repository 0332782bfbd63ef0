/**
 * The grammar of cron expressions: minute, hour, day of the month, month and day of the week, with
 * seconds in front if there are six fields, or a name such as `@daily`. A field is a list of
 * values, ranges and steps, or `*`.
 */
import { shown } from "../text.ts";

const LENGTH_MAX = 200;

interface CronField {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names of values, the first for `min`. */
  readonly words: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: readonly CronField[] = [
  { name: "second", min: 0, max: 59, words: [] },
  { name: "minute", min: 0, max: 59, words: [] },
  { name: "hour", min: 0, max: 23, words: [] },
  { name: "day of the month", min: 1, max: 31, words: [] },
  { name: "month", min: 1, max: 12, words: MONTHS },
  // Sunday is 0 and 7.
  { name: "day of the week", min: 0, max: 7, words: DAYS },
];

const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

/** February has its leap day. */
const MONTH_LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The six fields of an expression: what was written, and the values that it has, in order. */
export interface CronFields {
  /** In lower case. */
  readonly texts: readonly string[];
  readonly values: readonly (readonly number[])[];
}

/** The places of the fields in {@link CronFields}. */
export const SECOND = 0;
export const MINUTE = 1;
export const HOUR = 2;
export const DAY = 3;
export const MONTH = 4;
export const WEEKDAY = 5;

/** What is wrong with a cron expression, as the end of a sentence; null: nothing. */
export function cronFault(expression: string): string | null {
  const read = readCron(expression);
  return typeof read === "string" ? read : null;
}

/** The fields of an expression, or what is wrong with it. */
export function readCron(expression: string): CronFields | string {
  if (expression.length > LENGTH_MAX) return `it has more than ${LENGTH_MAX} characters`;
  const given = expression.trim().toLowerCase();
  const text = given.startsWith("@") ? NICKNAMES.get(given) : given;
  if (text === undefined) return `the names are ${[...NICKNAMES.keys()].join(", ")}`;
  const written = text.split(/\s+/);
  const texts = written.length === FIELDS.length - 1 ? ["0", ...written] : written;
  if (texts.length !== FIELDS.length) {
    return `it has ${texts.length} field(s), not minute, hour, day, month and day of the week`;
  }
  const fields = FIELDS.map((field, index) => readField(field, String(texts[index])));
  const fault = fields.find((field) => typeof field === "string");
  if (fault !== undefined) return fault;
  const values = fields.map((field) => sorted(field));
  // Sunday is 0 and 7.
  values[WEEKDAY] = sorted(values[WEEKDAY]!.map((day) => day % 7));
  // With a day of the week, the expression has other days as well.
  const dayFault = texts[WEEKDAY] === "*" ? dateFault(values[DAY]!, values[MONTH]!) : null;
  return dayFault ?? { texts, values };
}

function sorted(values: Iterable<unknown>): number[] {
  return [...new Set([...values].map(Number))].toSorted((one, other) => one - other);
}

/** The values of a field, or what is wrong with it. */
function readField(field: CronField, text: string): readonly number[] | string {
  const parts = text.split(",").map((part) => readPart(field, part));
  return parts.find((part) => typeof part === "string") ?? parts.flat().map(Number);
}

const PART = /^(?:\*|([a-z\d]+)(?:-([a-z\d]+))?)(?:\/([1-9]\d{0,3}))?$/;

/** `5`, `1-5` or `*`, each also with a step, such as `5/10`. */
function readPart(field: CronField, part: string): readonly number[] | string {
  const { name, min, max } = field;
  const match = PART.exec(part);
  if (match === null) return `the ${name} ${shown(part)} cannot be read`;
  const [, first, last, step] = match;
  const from = first === undefined ? min : valueOf(field, first);
  const isOpen = first === undefined || step !== undefined;
  const to = last === undefined ? (isOpen ? max : from) : valueOf(field, last);
  if (Number.isNaN(from + to)) return `the ${name} ${shown(part)} cannot be read`;
  if (Math.min(from, to) < min || Math.max(from, to) > max) {
    return `the ${name} ${shown(part)} is not from ${min} to ${max}`;
  }
  if (from > to) return `the ${name} ${shown(part)} ends before it begins`;
  const by = Number(step ?? 1);
  return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, index) => from + index * by);
}

/** NaN for a word that is no value of the field. */
function valueOf({ words, min }: CronField, text: string): number {
  const index = words.indexOf(text);
  if (index >= 0) return min + index;
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** A day such as 30 February never comes. */
function dateFault(days: readonly number[], months: readonly number[]): string | null {
  const first = Math.min(...days);
  const comes = months.some((month) => first <= MONTH_LENGTHS[month - 1]!);
  return comes ? null : `no month that it names has a day ${first}`;
}
