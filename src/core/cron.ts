/**
 * The grammar of cron expressions: minute, hour, day of the month, month and day of the week, or a
 * name such as `@daily`. A field is a list of values, ranges and steps, or `*`.
 */
import { shown } from "./text.ts";

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
  { name: "minute", min: 0, max: 59, words: [] },
  { name: "hour", min: 0, max: 23, words: [] },
  { name: "day of the month", min: 1, max: 31, words: [] },
  { name: "month", min: 1, max: 12, words: MONTHS },
  // Sunday is 0 and 7.
  { name: "day of the week", min: 0, max: 7, words: DAYS },
];

const NICKNAMES: readonly string[] = [
  "@yearly",
  "@annually",
  "@monthly",
  "@weekly",
  "@daily",
  "@midnight",
  "@hourly",
];

/** February has its leap day. */
const MONTH_LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** What is wrong with a cron expression, as the end of a sentence; null: nothing. */
export function cronFault(expression: string): string | null {
  if (expression.length > LENGTH_MAX) return `it has more than ${LENGTH_MAX} characters`;
  const text = expression.trim().toLowerCase();
  if (text.startsWith("@")) {
    return NICKNAMES.includes(text) ? null : `the names are ${NICKNAMES.join(", ")}`;
  }
  const texts = text.split(/\s+/);
  if (texts.length !== FIELDS.length) {
    return `it has ${texts.length} field(s), not minute, hour, day, month and day of the week`;
  }
  const fields = FIELDS.map((field, index) => readField(field, String(texts[index])));
  const fault = fields.find((field) => typeof field === "string");
  if (fault !== undefined) return fault;
  const [, , days, months] = fields.map((values) => new Set<unknown>(values));
  // With a day of the week, the expression has other days as well.
  return texts[4] === "*" ? dateFault(new Set(days), new Set(months)) : null;
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
function dateFault(days: ReadonlySet<unknown>, months: ReadonlySet<unknown>): string | null {
  const first = Math.min(...[...days].map(Number));
  const comes = MONTH_LENGTHS.some((length, index) => months.has(index + 1) && first <= length);
  return comes ? null : `no month that it names has a day ${first}`;
}
