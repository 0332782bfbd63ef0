/** What an edited payload has changed. */
import type { Json } from "../payload.ts";

export interface JsonChange {
  /** Such as `$.items[0].price`. */
  readonly path: string;
  /** Absent: the value was added. A long value is cut to a text. */
  readonly before?: Json;
  /** Absent: the value was removed. */
  readonly after?: Json;
}

const CHANGES_MAX = 100;
const VALUE_LENGTH_MAX = 500;
/** Deeper values are compared as a whole. */
const DEPTH_MAX = 50;

/** The changes from one JSON value to another, at most 100. */
export function jsonDifference(before: Json | undefined, after: Json | undefined): JsonChange[] {
  const changes: JsonChange[] = [];
  compare({ path: "$", depth: 0, changes }, before, after);
  return changes;
}

interface Place {
  readonly path: string;
  readonly depth: number;
  readonly changes: JsonChange[];
}

function compare(place: Place, before: Json | undefined, after: Json | undefined): void {
  const { path, depth, changes } = place;
  if (changes.length >= CHANGES_MAX || textOf(before) === textOf(after)) return;
  const isDeep = depth < DEPTH_MAX && isContainer(before) && isContainer(after);
  if (isDeep && Array.isArray(before) === Array.isArray(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const inner = Array.isArray(before) ? `${path}[${key}]` : `${path}.${key}`;
      compare({ path: inner, depth: depth + 1, changes }, at(before, key), at(after, key));
    }
    return;
  }
  changes.push({
    path,
    ...(before === undefined ? {} : { before: short(before) }),
    ...(after === undefined ? {} : { after: short(after) }),
  });
}

function isContainer(value: Json | undefined): value is Json & object {
  return typeof value === "object" && value !== null;
}

function at(value: object, key: string): Json | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- A part of a JSON value.
  return Object.hasOwn(value, key) ? (Reflect.get(value, key) as Json) : undefined;
}

function textOf(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

function short(value: Json): Json {
  const text = JSON.stringify(value);
  return text.length <= VALUE_LENGTH_MAX
    ? value
    : `${text.slice(0, VALUE_LENGTH_MAX).toWellFormed()}…`;
}
