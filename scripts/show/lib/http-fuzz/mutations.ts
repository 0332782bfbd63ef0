/** Makes a good request bad, in one place or in two. */
import type { Draft, Draw } from "./requests.ts";

const HOSTILE_TEXTS = [
  "",
  " ",
  "\0",
  "\u0007",
  "\uD800",
  "ü💧",
  "%",
  "%00",
  "%ff",
  "../..",
  "__proto__",
  "constructor",
  "' OR 1=1 --",
  "$1",
  "-1",
  "1e309",
  "NaN",
  "null",
  "9".repeat(30),
  "x".repeat(201),
  "x".repeat(5_000),
  "2026-02-30T00:00:00Z",
  "99999999999d",
];

const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  1e300,
  Number.MAX_SAFE_INTEGER,
  [],
  [[]],
  {},
  { key: {} },
  [null],
  ...HOSTILE_TEXTS,
];

const DEPTH = 3_000;
const TOO_LARGE = 2_100_000;

type Mutation = (draft: Draft, draw: Draw) => Draft;

const MUTATIONS: readonly Mutation[] = [
  // The credential.
  (draft) => ({ ...draft, headers: { host: "127.0.0.1:7333" } }),
  (draft, draw) =>
    withHeader(draft, "authorization", draw.one(["", "Bearer", "Basic x", "Bearer x"])),
  (draft) => withHeader(draft, "authorization", `Bearer mr_person_${"A".repeat(43)}`),
  (draft) => withHeader(draft, "sec-fetch-site", "cross-site"),
  (draft, draw) => withHeader(draft, "host", draw.one(["evil.example", "127.0.0.1:1", ""])),
  // The route.
  (draft, draw) => ({ ...draft, method: draw.one(["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"]) }),
  (draft, draw) => ({ ...draft, path: `${draft.path}${draw.one(["/", "/x", "%2F", "//", ";a"])}` }),
  inPath,
  inPath,
  // The query.
  (draft, draw) => withQuery(draft, draw.one(["x", "limt", "__proto__", ""]), "1"),
  inQuery,
  inQuery,
  (draft) => ({ ...draft, query: [...draft.query, ...draft.query] }),
  (draft, draw) => withQuery(draft, draw.one(QUERY_NAMES), draw.one(HOSTILE_TEXTS)),
  (draft, draw) => withQuery(draft, draw.one(QUERY_NAMES), draw.one(HOSTILE_TEXTS)),
  // Headers.
  (draft, draw) =>
    withHeader(draft, draw.one(HEADER_NAMES), draw.one(HOSTILE_TEXTS.filter(isHeaderText))),
  // The body.
  inBody,
  inBody,
  inBody,
  (draft, draw) => withText(draft, (text) => text.slice(0, draw.count(text.length))),
  (draft) => withText(draft, (text) => text.replace("{", '{"type":1,"type":2,')),
  (draft) =>
    withText(draft, (text) => `{"reason":${"[".repeat(DEPTH)}${"]".repeat(DEPTH)},${text}`),
  (draft) => withText(draft, () => `{"type":"a","payload":${nested()}}`),
  (draft) => withText(draft, (text) => `\uFEFF${text}`),
  (draft) => ({ ...draft, bytes: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]) }),
  (draft) => ({ ...draft, bytes: new Uint8Array(0) }),
  (draft, draw) => (draw.chance(0.1) ? { ...draft, bytes: new Uint8Array(TOO_LARGE) } : draft),
];

const QUERY_NAMES = ["limit", "after", "wait", "type", "tenant", "tag", "state", "prefix", "key"];
const HEADER_NAMES = [
  "idempotency-key",
  "prefer",
  "if-none-match",
  "last-event-id",
  "content-type",
  "content-encoding",
  "x-request-id",
  "x-forwarded-host",
  "cookie",
];

/** The draft with one or two changes. */
export function mutated(draft: Draft, draw: Draw): Draft {
  const once = draw.one(MUTATIONS)(draft, draw);
  return draw.chance(0.2) ? draw.one(MUTATIONS)(once, draw) : once;
}

function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

function withHeader(draft: Draft, name: string, value: string): Draft {
  return { ...draft, headers: { ...draft.headers, [name]: value } };
}

function withQuery(draft: Draft, name: string, value: string): Draft {
  return { ...draft, query: [...draft.query, [name, value]] };
}

function inPath(draft: Draft, draw: Draw): Draft {
  const parts = draft.path.split("/");
  parts[1 + draw.count(parts.length - 1)] = encodeURIComponent(
    draw.one(HOSTILE_TEXTS).toWellFormed(),
  );
  return { ...draft, path: parts.join("/") };
}

function inQuery(draft: Draft, draw: Draw): Draft {
  if (draft.query.length === 0) return withQuery(draft, "limit", draw.one(HOSTILE_TEXTS));
  const at = draw.count(draft.query.length);
  const query = draft.query.map(([name, value], index) =>
    index === at ? ([name, draw.one(HOSTILE_TEXTS)] as const) : ([name, value] as const),
  );
  return { ...draft, query };
}

/** Another value at some place of the JSON, or a field more, or one less. */
function inBody(draft: Draft, draw: Draw): Draft {
  return { ...draft, json: changed(draft.json ?? {}, draw) };
}

function changed(value: unknown, draw: Draw): unknown {
  if (typeof value !== "object" || value === null || draw.chance(0.1)) {
    return draw.one(HOSTILE_VALUES);
  }
  if (Array.isArray(value))
    return value.map((item) => (draw.chance(0.5) ? changed(item, draw) : item));
  const entries = Object.entries(value);
  if (entries.length === 0 || draw.chance(0.2)) {
    return { ...value, [draw.one(["x", "tipe", "tenant", "__proto__"])]: draw.one(HOSTILE_VALUES) };
  }
  const at = draw.count(entries.length);
  if (draw.chance(0.15)) return Object.fromEntries(entries.toSpliced(at, 1));
  return Object.fromEntries(
    entries.map(([name, each], index) => [name, index === at ? changed(each, draw) : each]),
  );
}

function withText(draft: Draft, change: (text: string) => string): Draft {
  const bytes = new TextEncoder().encode(change(JSON.stringify(draft.json ?? {})));
  return { ...draft, bytes };
}

function nested(): string {
  return `${'{"a":'.repeat(DEPTH)}1${"}".repeat(DEPTH)}`;
}
