/**
 * What a person writes in the query bar of Jobs, as the query of the API and as the filter of an
 * operation. Pure: the time is an argument.
 */
import type { BulkJobFilter, Job, Operations } from "../../../api/operations.gen.ts";
import { parseQuery, termText, type Term, type Wrong } from "../../../lib/query.ts";

export type ListQuery = Operations["listJobs"]["query"];
/** The filter of an operation also takes what only `listJobs` has declared so far. */
export type BulkFilter = BulkJobFilter & {
  readonly lane?: string;
  readonly error?: string;
  readonly payload?: Readonly<Record<string, string>>;
  readonly text?: string;
};

export interface JobQuery {
  readonly query: ListQuery;
  /** The same for an operation; null if an operation cannot have it. */
  readonly bulk: BulkFilter | null;
  readonly wrong: readonly Wrong[];
  /** Rows of an answer that are shown; the API does not know every view as a state. */
  readonly keep: ((job: Job) => boolean) | null;
  /** Looks into payloads or errors: the server stops such a search at its limit. */
  readonly isSearch: boolean;
}

type ApiState = NonNullable<ListQuery["state"]>[number];

const API_STATES: readonly ApiState[] = [
  "scheduled",
  "queued",
  "running",
  "completed",
  "completed_with_errors",
  "failed",
  "cancelled",
  "pending",
];

/** What `state:` takes: the states of the API, and retrying, a view of waiting jobs. */
export const STATE_VALUES: readonly string[] = [...API_STATES, "retrying"];

export interface KeyFacts {
  /** As it is written, with its sign. */
  readonly text: string;
  readonly hint: string;
}

export const KEYS: readonly KeyFacts[] = [
  { text: "state:", hint: "failed, running, retrying, … may be repeated" },
  { text: "type:", hint: "the type of the job" },
  { text: "tenant:", hint: "the tenant" },
  { text: "lane:", hint: "the lane" },
  { text: "category:", hint: "the category of the type" },
  { text: "error:", hint: "a part of the last error" },
  { text: "payload.", hint: "a value at a path: payload.user.id=42" },
  { text: "tag.", hint: "a tag: tag.campaign:autumn" },
  { text: "age<", hint: "created since then: age<1h" },
  { text: "age>", hint: "created before then: age>1d" },
  { text: "created>", hint: "created after a moment: created>2026-11-18T12:00Z, or 2h ago" },
  { text: "created<", hint: "created before a moment: created<2026-11-18T13:00Z, or 2h ago" },
  { text: "running>", hint: "running for longer: running>30m" },
  { text: "correlation:", hint: "the jobs of one user action" },
  { text: "parent:", hint: "enqueued by the job with this id" },
];

const TEXT_MIN = 3;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i;
const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Collects the parts of the two filters. */
class Draft {
  readonly now: number;
  readonly states: string[] = [];
  readonly once = new Map<string, string>();
  readonly tags = new Map<string, string>();
  readonly paths = new Map<string, string>();
  readonly wrong: Wrong[] = [];

  constructor(now: number) {
    this.now = now;
  }

  setOnce(name: string, value: string): string | null {
    if (this.once.has(name)) return "It is given twice; a job has one. Remove one of the two.";
    this.once.set(name, value);
    return null;
  }
}

/** The names of the API for keys that take any text. */
const PLAIN: Readonly<Record<string, string>> = {
  type: "type",
  tenant: "tenant",
  lane: "lane",
  category: "category",
  error: "error",
  correlation: "correlation_id",
  parent: "parent_id",
};

export function jobQueryOf(text: string, now: number): JobQuery {
  const { terms, words } = parseQuery(text);
  const draft = new Draft(now);
  for (const term of terms) {
    const message = take(term, draft);
    if (message !== null) draft.wrong.push({ text: termText(term), message });
  }
  takeWords(words, draft);
  return finished(draft);
}

/** Takes a term in; answers what is wrong with it. */
function take(term: Term, draft: Draft): string | null {
  const { key, sign, value } = term;
  if (key.startsWith("payload.")) return takePair(term, "payload.", draft.paths);
  if (key.startsWith("tag.")) return takePair(term, "tag.", draft.tags);
  if (key === "age" || key === "running") return takeLength(term, draft);
  if (key === "created") return takeMoment(term, draft);
  if (key === "state") return takeStates(value, draft);
  const name = Object.hasOwn(PLAIN, key) ? PLAIN[key] : undefined;
  if (name === undefined) return unknownKey(key);
  if (sign === "<" || sign === ">") return `Write ${key}:${value}.`;
  return draft.setOnce(name, value);
}

function takePair({ key, sign, value }: Term, prefix: string, into: Map<string, string>) {
  const name = key.slice(prefix.length);
  if (name === "") return `Name it: ${prefix}name:value.`;
  if (sign === "<" || sign === ">") return `Only equal values can be found: ${key}=${value}.`;
  if (into.has(name)) return "It is given twice; a job has one value for it. Remove one.";
  into.set(name, value);
  return null;
}

function takeLength({ key, sign, value }: Term, draft: Draft): string | null {
  const isKnown = key === "age" ? sign === "<" || sign === ">" : sign === ">";
  if (!isKnown) return key === "age" ? "Write age<1h or age>1h." : "Write running>30m.";
  if (!DURATION.test(value)) return `Write a length of time such as ${key}${sign}30m, 2h or 1d.`;
  if (key === "running") return draft.setOnce("running_longer_than", value);
  return draft.setOnce(sign === "<" ? "created_after" : "created_before", value);
}

/** A moment, or a length of time before now. */
function takeMoment({ sign, value }: Term, draft: Draft): string | null {
  if (sign !== "<" && sign !== ">") return `Write created>${value} or created<${value}.`;
  const isMoment =
    MOMENT.test(value) && isDay(value.slice(0, 10)) && !Number.isNaN(Date.parse(value));
  if (!isMoment && !DURATION.test(value)) {
    return `Write a moment with its offset, such as created${sign}2026-11-18T12:00Z, or 2h.`;
  }
  const given = isMoment ? new Date(value).toISOString() : value;
  return draft.setOnce(sign === ">" ? "created_after" : "created_before", given);
}

/** The engine would take February 30 for March 2. */
function isDay(day: string): boolean {
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

function takeStates(value: string, draft: Draft): string | null {
  for (const state of value.split(",").filter(Boolean)) {
    if (state === "held") {
      return "No list has held jobs alone. Write state:queued; each job says what holds it back.";
    }
    if (!STATE_VALUES.includes(state)) {
      const near = nearest(state, STATE_VALUES);
      const advice =
        near === null ? `It is one of ${STATE_VALUES.join(", ")}.` : `Write state:${near}.`;
      return `There is no such state. ${advice}`;
    }
    draft.states.push(state);
  }
  return null;
}

const OTHER_KEYS = ["state", "age", "created", "running", "payload", "tag"];

function unknownKey(key: string): string {
  if (key === "payload" || key === "tag") return `Name it: ${key}.name=value.`;
  const near = nearest(key, [...Object.keys(PLAIN), ...OTHER_KEYS]);
  const advice = near === null ? "" : ` Did you mean ${near}?`;
  return `There is no such key.${advice} To find this text in payloads, write it in quotes.`;
}

function takeWords(words: readonly string[], draft: Draft): void {
  const negated = words.find((word) => /^-\w+[:=<>]/.test(word));
  if (negated !== undefined) {
    const message = "A term cannot be turned round. Name the states that you want.";
    draft.wrong.push({ text: negated, message });
    return;
  }
  const text = words.join(" ");
  if (text === "") return;
  if (text.length < TEXT_MIN) {
    const message = `Write at least ${TEXT_MIN} letters to look for them in payloads.`;
    draft.wrong.push({ text, message });
  } else draft.once.set("text", text);
}

function finished(draft: Draft): JobQuery {
  const { states, once, tags, paths, wrong } = draft;
  const hasRetrying = states.includes("retrying");
  const asked = new Set(states.flatMap((each) => (each === "retrying" ? ["pending"] : [each])));
  const state = API_STATES.filter((each) => asked.has(each));
  const pairs = (of: ReadonlyMap<string, string>) => [...of].map((each) => each.join(":"));
  return {
    query: {
      ...Object.fromEntries(once),
      ...(state.length === 0 ? {} : { state }),
      ...(tags.size === 0 ? {} : { tag: pairs(tags) }),
      ...(paths.size === 0 ? {} : { payload: pairs(paths) }),
    },
    bulk: hasRetrying || wrong.length > 0 ? null : bulkOf(draft, state),
    wrong,
    keep: hasRetrying ? keeper(new Set(states)) : null,
    isSearch: paths.size > 0 || once.has("text") || once.has("error"),
  };
}

function bulkOf({ once, tags, paths, now }: Draft, state: readonly ApiState[]): BulkFilter {
  const given: Record<string, unknown> = {};
  const rename: Readonly<Record<string, string>> = {
    correlation_id: "correlationId",
    parent_id: "parentId",
    running_longer_than: "runningLongerThan",
    created_after: "createdAfter",
    created_before: "createdBefore",
  };
  for (const [name, value] of once) {
    const isMoment = name.startsWith("created_");
    given[rename[name] ?? name] = isMoment ? momentOf(value, now) : value;
  }
  return {
    ...given,
    ...(state.length === 0 ? {} : { state }),
    ...(tags.size === 0 ? {} : { tags: Object.fromEntries(tags) }),
    ...(paths.size === 0 ? {} : { payload: Object.fromEntries(paths) }),
  };
}

function keeper(wanted: ReadonlySet<string>): (job: Job) => boolean {
  return ({ state, attempts }) => {
    const isWaiting = state === "scheduled" || state === "queued";
    if (wanted.has(state) || (isWaiting && wanted.has("pending"))) return true;
    return isWaiting && attempts > 0;
  };
}

function momentOf(text: string, now: number): string {
  return DURATION.test(text) ? new Date(now - lengthMs(text)).toISOString() : text;
}

function lengthMs(text: string): number {
  const [, amount = "0", unit = "ms"] = DURATION.exec(text) ?? [];
  return Number(amount) * (UNIT_MS[unit] ?? 1);
}

/** The word that a person has probably meant. */
function nearest(text: string, words: readonly string[]): string | null {
  const lower = text.toLowerCase();
  const distances = words.map((word) => [distance(lower, word), word] as const);
  const [best, word] = distances.toSorted(([a], [b]) => a - b)[0] ?? [Infinity, ""];
  const isNear = best <= Math.min(2, Math.floor(word.length / 2));
  return isNear ? word : (words.find((each) => lower !== "" && each.startsWith(lower)) ?? null);
}

/** How many letters differ. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const cost = a[i] === b[j] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + cost, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
