/** Which fields of JSON are secrets, wherever it is shown or recorded. */
import type { JsonChange } from "./failures/json-difference.ts";
import { isExactNumber } from "../lib/exact-json.ts";
import type { Json } from "./payload.ts";

/** The values of these fields are secrets, wherever they occur. */
const SECRET_FIELDS = [
  "password",
  "passwd",
  "secret",
  "token",
  "authorization",
  "api_key",
  "apikey",
];
/** What stands in place of a secret. */
export const HIDDEN = "[redacted]";
/** Deeper values are hidden as a whole. */
const DEPTH_MAX = 100;

export interface RedactionRules {
  /** Names of fields, at any depth, or paths such as `card.number`, in lower case. */
  readonly fields: ReadonlySet<string>;
}

/** The rules with the fields that the user names. */
export function redactionRules(fields: readonly string[] = []): RedactionRules {
  return { fields: new Set([...SECRET_FIELDS, ...fields].map((field) => field.toLowerCase())) };
}

/** A value without its secrets. `path` is where the value is. */
export function redacted(value: unknown, rules: RedactionRules, path = "", depth = 0): unknown {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return value;
  if (depth === DEPTH_MAX) return HIDDEN;
  if (Array.isArray(value)) return value.map((item) => redacted(item, rules, path, depth + 1));
  const entries = Object.entries(value).map(([name, each]) => {
    const place = placeOf(path, name);
    return [name, isSecret(rules, name, place) ? HIDDEN : redacted(each, rules, place, depth + 1)];
  });
  return Object.fromEntries(entries);
}

/**
 * Whether a dotted path leads into a secret. A number in the path may be an index, which places do
 * not have, or the name of a field.
 */
export function isHiddenPath(path: string, { fields }: RedactionRules): boolean {
  const names = path.toLowerCase().split(".");
  if (names.some((name) => fields.has(name))) return true;
  return [...fields].some((field) => leadsThrough(names, field.split(".")));
}

/** Whether the names begin with the steps, if numbers among the names may be left out. */
function leadsThrough(names: readonly string[], steps: readonly string[]): boolean {
  let reached = new Set([0]);
  for (const name of names) {
    const next = [...reached].filter((at) => steps[at] === name).map((at) => at + 1);
    reached = new Set(/^\d+$/.test(name) ? [...next, ...reached] : next);
    if (reached.has(steps.length)) return true;
  }
  return false;
}

/** Changes of a payload without the values of secrets. */
export function redactedChanges(
  changes: readonly JsonChange[],
  rules: RedactionRules,
): readonly JsonChange[] {
  return changes.map((change) => {
    const { path } = change;
    const names = path.split(/[.[\]]+/).filter((name) => name !== "" && !/^(?:\$|\d+)$/.test(name));
    const placeUpTo = (count: number): string => names.slice(0, count).reduce(placeOf, "");
    const isHidden = names.some((name, index) => isSecret(rules, name, placeUpTo(index + 1)));
    const show = (value: Json): Json =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Redacted JSON is JSON.
      isHidden ? HIDDEN : (redacted(value, rules, placeUpTo(names.length)) as Json);
    return {
      path,
      ...(change.before === undefined ? {} : { before: show(change.before) }),
      ...(change.after === undefined ? {} : { after: show(change.after) }),
    };
  });
}

function placeOf(path: string, name: string): string {
  const field = name.toLowerCase();
  return path === "" ? field : `${path}.${field}`;
}

function isSecret({ fields }: RedactionRules, name: string, place: string): boolean {
  return fields.has(name.toLowerCase()) || fields.has(place);
}
