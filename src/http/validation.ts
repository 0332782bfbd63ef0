/**
 * Checks parts of a request against their schema. The messages name the place, the refused value
 * and, for a misspelled name, the name that was probably meant.
 */
import { z } from "@hono/zod-openapi";
import { shown, storable } from "../core/text.ts";
import { closest } from "../lib/closest.ts";
import { RequestRefusal, type Mismatch } from "./problem.ts";

/** A response lists so many wrong parts of its request. */
const MISMATCHES_MAX = 10;
/** A longer name or path is cut in a response. */
export const NAME_LENGTH_MAX = 100;
const PATH_LENGTH_MAX = 300;

type Issue = z.core.$ZodIssue;

/** The value as the schema reads it. Throws a refusal that names the wrong parts. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: string,
): z.output<Schema> {
  const { success, data, error } = schema.safeParse(value, { reportInput: true });
  if (success) return data;
  const issues = error.issues.slice(0, MISMATCHES_MAX);
  throw refusalOf(issues.flatMap((issue) => mismatchesOf(schema, issue, place)));
}

/** A refusal of a query parameter or field that the schema does not have. */
export function unknownName(name: string, known: readonly string[]): string {
  // The comparison takes as long as the name is, and a long name is no typing error.
  const meant = name.length > NAME_LENGTH_MAX ? null : closest(name, known);
  if (meant !== null) return `is unknown; did you mean ${meant}?`;
  return known.length === 0 ? "is unknown" : `is unknown; the known names are ${known.join(", ")}`;
}

function refusalOf(mismatches: readonly Mismatch[]): RequestRefusal {
  const [first = { path: "the request", message: "is of another form" }] = mismatches;
  const detail = `${first.path} ${first.message}`;
  return new RequestRefusal("INPUT_INVALID", detail, mismatches.slice(0, MISMATCHES_MAX));
}

function mismatchesOf(schema: z.ZodType, issue: Issue, place: string): readonly Mismatch[] {
  const path = issue.path.map(String);
  if (issue.code !== "unrecognized_keys") {
    return [{ path: placeOf(place, path), message: messageOf(issue, schemaAt(schema, path)) }];
  }
  const at = schemaAt(schema, path);
  const known = at instanceof z.ZodObject ? Object.keys(at.shape) : [];
  return issue.keys.slice(0, MISMATCHES_MAX).map((key) => ({
    path: placeOf(place, [...path, key]),
    message: unknownName(key, known),
  }));
}

function placeOf(place: string, path: readonly string[]): string {
  const within = path.reduce((before, name) => {
    if (/^\d+$/.test(name)) return `${before}[${name}]`;
    return before === "" ? name : `${before}.${name}`;
  }, "");
  if (place === "") return within === "" ? "the body" : storable(within, PATH_LENGTH_MAX);
  return within === "" ? place : storable(`${place}.${within}`, PATH_LENGTH_MAX);
}

/** Schemas say in the message of a pattern or union what a value must be. */
function messageOf(issue: Issue, at: z.core.$ZodType | null): string {
  const value = "input" in issue ? issue.input : undefined;
  if (value === undefined) return "is missing";
  const refuse = (expected: string): string => `must be ${expected}, not ${shown(value)}`;
  if (issue.code === "invalid_type") {
    return refuse(isInteger(at) ? "an integer" : withArticle(issue.expected));
  }
  if (issue.code === "invalid_value") return oneOfMessage(issue.values.map(String), value, refuse);
  if (issue.code === "too_small" || issue.code === "too_big") {
    return boundsMessage(issue, value, at, refuse);
  }
  if (issue.code === "invalid_format") return refuse(FORMATS[issue.format] ?? issue.message);
  return issue.code === "invalid_union" ? refuse(issue.message) : issue.message;
}

/** Formats whose message of the library does not say what a value must be. */
const FORMATS: Readonly<Record<string, string>> = {
  datetime: "a time in ISO 8601 with an offset, such as 2026-01-31T09:00:00Z",
};

function oneOfMessage(
  values: readonly string[],
  value: unknown,
  refuse: (expected: string) => string,
): string {
  const meant = typeof value === "string" ? closest(value, values) : null;
  return `${refuse(values.join(", "))}${meant === null ? "" : `; did you mean ${meant}?`}`;
}

function boundsMessage(
  issue: z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall,
  value: unknown,
  at: z.core.$ZodType | null,
  refuse: (expected: string) => string,
): string {
  if (at instanceof z.ZodNumber && at.minValue !== null && at.maxValue !== null) {
    return refuse(`from ${at.minValue} to ${at.maxValue}`);
  }
  const bound = issue.code === "too_big" ? `at most ${issue.maximum}` : `at least ${issue.minimum}`;
  if (issue.origin === "array") return `must have ${bound} entries`;
  if (typeof value !== "string") return refuse(bound);
  return `must have ${bound} character${bound.endsWith(" 1") ? "" : "s"}, not ${value.length}`;
}

function withArticle(type: string): string {
  if (type === "int") return "an integer";
  if (type === "null" || type === "record") return type === "null" ? "null" : "an object";
  return `${/^[aeio]/.test(type) ? "an" : "a"} ${type}`;
}

function isInteger(schema: z.core.$ZodType | null): boolean {
  return schema instanceof z.ZodNumber && schema.format !== null;
}

/** The schema of the value at a path; null: the schema does not say. */
function schemaAt(schema: z.ZodType, path: readonly string[]): z.core.$ZodType | null {
  let at: z.core.$ZodType = unwrapped(schema);
  for (const name of path) {
    const inner = at instanceof z.ZodArray ? at.element : shapeOf(at)?.[name];
    if (inner === undefined) return null;
    at = unwrapped(inner);
  }
  return at;
}

function shapeOf(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> | null {
  return schema instanceof z.ZodObject ? schema.shape : null;
}

/** The schema without `optional`, `default` and `nullable`. */
export function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable;
  return isWrapper ? unwrapped(schema.unwrap()) : schema;
}
