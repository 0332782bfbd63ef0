/** What the query bar offers for a text that is not finished. Pure. */
import { termText } from "../../../lib/query.ts";
import { KEYS, STATE_VALUES } from "./job-query.ts";

export interface Known {
  readonly types: readonly string[];
  readonly lanes: readonly string[];
  readonly tenants: readonly string[];
}

export interface Suggestion {
  /** What takes the place of the text. */
  readonly text: string;
  readonly hint: string;
  /** A whole term, which can be searched for at once. */
  readonly isWhole: boolean;
  /** An id: the job opens. */
  readonly jobId?: string;
}

const SHOWN_MAX = 9;
const ID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;
const LENGTHS = ["15m", "1h", "24h", "7d"];

export function suggestionsFor(draft: string, known: Known): readonly Suggestion[] {
  const text = draft.trimStart();
  if (ID.test(text.trim())) {
    const jobId = text.trim().toUpperCase();
    return [{ text: jobId, hint: "open the job with this id", isWhole: true, jobId }];
  }
  const [, key, sign = ":", value = ""] = /^([A-Za-z]+)([:=<>])"?(.*?)"?$/.exec(text) ?? [];
  if (key !== undefined) return valuesFor(key, sign, value, known);
  return keysFor(text);
}

function keysFor(text: string): readonly Suggestion[] {
  const wanted = text.toLowerCase();
  const found = KEYS.filter((key) => key.text.startsWith(wanted) && key.text !== wanted);
  const others = KEYS.filter(
    (key) => !found.includes(key) && wanted !== "" && key.text.includes(wanted),
  );
  return [...found, ...others].slice(0, wanted === "" ? KEYS.length : SHOWN_MAX).map((key) => {
    return { ...key, isWhole: false };
  });
}

function valuesFor(key: string, sign: string, value: string, known: Known): readonly Suggestion[] {
  const lists: Readonly<Record<string, readonly string[]>> = {
    state: STATE_VALUES,
    type: known.types,
    lane: known.lanes,
    tenant: known.tenants,
  };
  const isLength = key === "age" || key === "created" || key === "running";
  const values = isLength ? LENGTHS : Object.hasOwn(lists, key) ? (lists[key] ?? []) : [];
  const wanted = value.toLowerCase();
  const first = values.filter((each) => each.toLowerCase().startsWith(wanted));
  const later = values.filter(
    (each) => !first.includes(each) && each.toLowerCase().includes(wanted),
  );
  return [...first, ...later].slice(0, SHOWN_MAX).map((each) => ({
    text: termText({
      key,
      sign: isLength && sign === "<" ? "<" : isLength ? ">" : ":",
      value: each,
    }),
    hint: isLength ? lengthHint(key, sign) : key,
    isWhole: true,
  }));
}

function lengthHint(key: string, sign: string): string {
  if (key === "running") return "running for longer";
  // A smaller age is a later moment.
  return (key === "age") === (sign === "<") ? "created since then" : "created before then";
}
