/**
 * Checks what the types of the API cannot express. The checks run when a job or schedule is
 * declared, so that a mistake shows when the program starts and not when the first job runs.
 */
import { durationMs } from "../core/duration.ts";
import type { Duration } from "../core/duration.ts";
import { MillraceError, type ErrorCode } from "../core/errors.ts";
import { shown } from "../core/text.ts";
import { closest } from "../lib/closest.ts";

/** Checks the value at `place`. Returns what is wrong, or `null`. */
export type Rule = (value: unknown, place: string) => RuleMismatch | null;

export interface RuleMismatch {
  readonly place: string;
  /** Completes the sentence that starts with the place, and says what to do. */
  readonly problem: string;
  /** Default: the code of the check, DEFINITION_INVALID or OPTION_INVALID. */
  readonly code?: ErrorCode;
}

/** The rules of an object's keys. Other keys are refused. */
interface Fields {
  readonly required: Readonly<Record<string, Rule>>;
  readonly optional: Readonly<Record<string, Rule>>;
}

/** Throws DEFINITION_INVALID when `value` breaks `rule`. `subject` reads like `job "email"`. */
export function insist(subject: string, rule: Rule, value: unknown, place: string): void {
  const mismatch = rule(value, place);
  if (mismatch !== null) throw refusal(subject, mismatch);
}

export function refusal(subject: string, mismatch: RuleMismatch): MillraceError {
  const { place, problem, code = "DEFINITION_INVALID" } = mismatch;
  // The place is empty when the mismatch is in the whole value.
  const message = `${subject}: ${`${place} ${problem}`.trimStart()}`;
  return new MillraceError(code, message, { details: { subject, place } });
}

/** The rule for a part that has a place in the API and does not exist yet. */
export const notYet: Rule = (_, place) => ({
  place,
  problem: "is not part of this release",
  code: "NOT_YET",
});

/** A rule from a predicate. `expected` completes the sentence "… must be". */
export function must(fits: (value: unknown) => boolean, expected: string): Rule {
  return (value, place) =>
    fits(value) ? null : { place, problem: `must be ${expected}, not ${shown(value)}` };
}

const NAME_LENGTH_MAX = 200;

/**
 * A rule for text that can be stored, indexed, logged, shown on one line and be part of a path.
 * `.` and `..` cannot: clients remove them from a URL before they send it.
 */
export const aName: Rule = must(
  (value) =>
    typeof value === "string" &&
    value.isWellFormed() &&
    !/\p{Cc}/u.test(value) &&
    value.length > 0 &&
    value !== "." &&
    value !== ".." &&
    Array.from(value).length <= NAME_LENGTH_MAX,
  `a text of 1 to ${NAME_LENGTH_MAX} characters without control characters, and not . or ..`,
);

export const aFunction: Rule = must((value) => typeof value === "function", "a function");

interface Bounds {
  readonly min: number;
  readonly max?: number;
}

export function aWholeNumber(bounds: Bounds): Rule {
  return must((value) => isWholeNumber(value, bounds), wholeNumberIn(bounds));
}

/** Such as `a whole number from 1 to 1,000`. */
export function wholeNumberIn({ min, max }: Bounds): string {
  const range =
    max === undefined ? `of at least ${min}` : `from ${min} to ${max.toLocaleString("en")}`;
  return `a whole number ${range}`;
}

export function isWholeNumber(value: unknown, { min, max = Infinity }: Bounds): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max;
}

export function oneOf(...words: readonly string[]): Rule {
  const rule = must((value) => words.some((word) => word === value), list(words.map(shown), "or"));
  return (value, place) => {
    const mismatch = rule(value, place);
    const meant = typeof value === "string" ? closest(value, words) : null;
    if (mismatch === null || meant === null) return mismatch;
    return { place, problem: `${mismatch.problem}; did you mean ${shown(meant)}?` };
  };
}

export function listOf(rule: Rule): Rule {
  return (value, place) => {
    if (!Array.isArray(value)) return { place, problem: `must be a list, not ${shown(value)}` };
    // An array may have holes, which `map` would skip.
    return first(Array.from(value, (item, index) => rule(item, `${place}[${index}]`)));
  };
}

/** A rule for objects. `expected` completes the sentence "… must be" for any other value. */
export function anObject(fields: Fields, expected: string): Rule {
  const known = { ...fields.required, ...fields.optional };
  const required = Object.entries(fields.required);
  const optional = Object.entries(fields.optional);
  return (value, place) => {
    if (!isObject(value)) return { place, problem: `must be ${expected}, not ${shown(value)}` };
    const stray = Object.keys(value).find((key) => !Object.hasOwn(known, key));
    if (stray !== undefined) {
      return { place: within(place, stray), problem: unknownKey(stray, known) };
    }
    for (const [key, rule] of required) {
      const mismatch = rule(value[key], within(place, key));
      if (mismatch !== null) return mismatch;
    }
    for (const [key, rule] of optional) {
      // Without exactOptionalPropertyTypes, callers write `{ lane: undefined }` to omit a key.
      if (value[key] === undefined) continue;
      const mismatch = rule(value[key], within(place, key));
      if (mismatch !== null) return mismatch;
    }
    return null;
  };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for a value that `durationMs` accepts, so that durations have one grammar. */
export function isDuration(value: unknown, bounds: { minMs: number }): boolean {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- durationMs is what checks it.
    return durationMs(value as Duration, "duration") >= bounds.minMs;
  } catch {
    return false;
  }
}

function unknownKey(key: string, known: object): string {
  const names = Object.keys(known);
  const meant = closest(key, names);
  if (meant !== null) return `is unknown; did you mean ${meant}?`;
  return `is unknown; the known keys are ${list(names, "and")}`;
}

function within(place: string, key: string): string {
  return place === "" ? key : `${place}.${key}`;
}

function first(mismatches: readonly (RuleMismatch | null)[]): RuleMismatch | null {
  return mismatches.find((mismatch) => mismatch !== null) ?? null;
}

function list(words: readonly string[], conjunction: "and" | "or"): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${conjunction} ${words.at(-1)}`;
}
