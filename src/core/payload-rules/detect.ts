/**
 * Looks through a payload for fields that a rule forbids and for sensitive content: at every depth,
 * in lists, in pairs of name and value, and in JSON within texts. The cost is bounded by
 * {@link NODES_MAX} and {@link TEXT_MAX}.
 */
import type { Json } from "../payload.ts";
import { isSplitCard } from "./cards.ts";
import { contentIn, letterIn } from "./contents.ts";
import { encodedIn } from "./encodings.ts";
import { secretInField, type Secret } from "./fields.ts";
import { secretNamed, type NamedSecret } from "./names.ts";
import { inList, inObject, TOP, type Place } from "./places.ts";
import type { SensitiveSet } from "./rule.ts";
import { secretInText } from "./secrets.ts";
import {
  columnsOf,
  LOGIN_OBJECTS,
  MADE_UP,
  siblingsOf,
  tableIn,
  type JsonObject,
} from "./siblings.ts";
import { secretInArguments } from "./texts/commands.ts";
import { secretShape } from "./tokens.ts";
import { isSeedPhrase } from "./values.ts";

/** The values of a payload that are looked at. */
export const NODES_MAX = 20_000;
/** The characters of a payload that are looked at, and those of one text. */
export const TEXT_MAX = 1_000_000;
const TEXT_OF_VALUE_MAX = 100_000;
/** The findings that are told. */
const FINDINGS_MAX = 100;
/** JSON in a text in JSON in a text, and so on. */
const JSON_DEPTH_MAX = 3;
const DEPTH_MAX = 200;
/** The groups of names that are known of the objects further out. */
const AROUND_MAX = 6;
/** A key that is as long may be a token itself. */
const LONG_KEY = 20;

export interface Finding {
  /** The place of the value, such as `users[2].password`. */
  readonly path: string;
  /** The place by its steps, to the text that has the value: for its replacement. */
  readonly steps: readonly (string | number)[];
  readonly rule: SensitiveSet | "forbidden";
  readonly what: string;
}

export interface Search {
  readonly forbidden: readonly string[];
  readonly sets: ReadonlySet<SensitiveSet>;
}

export interface Found {
  readonly findings: readonly Finding[];
  /** True: the payload is larger than the search, and its rest was not looked at. */
  readonly isCutShort: boolean;
}

export function searchPayload(payload: Json | undefined, search: Search): Found {
  const walk = new PayloadSearch(search);
  if (payload !== undefined) walk.visit(payload, TOP);
  return { findings: walk.findings, isCutShort: walk.isCutShort };
}

class PayloadSearch {
  readonly findings: Finding[] = [];
  isCutShort = false;
  readonly #search: Search;
  readonly #forbidden: ReadonlySet<string>;
  #nodes = 0;
  #chars = 0;

  constructor(search: Search) {
    this.#search = search;
    this.#forbidden = new Set(search.forbidden.map((name) => name.toLowerCase()));
  }

  visit(value: Json, place: Place): void {
    this.#nodes += 1;
    const isBeyond = this.#nodes > NODES_MAX || place.steps.length > DEPTH_MAX;
    if (isBeyond || this.findings.length >= FINDINGS_MAX) {
      this.isCutShort = true;
      return;
    }
    if (typeof value === "string") this.#visitText(value, place);
    else if (typeof value === "number") this.#visitNumber(value, place);
    else if (isList(value)) this.#visitList(value, place);
    else if (typeof value === "object" && value !== null) this.#visitObject(value, place);
  }

  /** In a list of two, a first text may name the second: `["password", "…"]`. */
  #visitList(list: readonly Json[], place: Place): void {
    const [first] = list;
    const texts = list.filter((item) => typeof item === "string");
    if (list.length > 1 && texts.length === list.length) this.#addOfTexts(texts, place);
    const isKey = secretNamed(place.name)?.set === "keys" && isBytes(list);
    this.#addSecret(place, isKey ? { set: "keys", what: "the bytes of a key" } : null);
    const isPair = list.length === 2 && typeof first === "string";
    const isHeaders = texts.length === list.length && /headers$/i.test(place.field);
    const isLogin = isPair && LOGIN_OBJECTS.has(place.name.toLowerCase());
    const columns = list.length > 1 && isList(list[1]!) ? columnsOf(first) : null;
    for (const [index, item] of list.entries()) {
      const own = inList(place, index);
      if (columns !== null && isList(item) && index > 0) this.#visitRow(item, columns, own);
      else if (isLogin && index === 1) this.visit(item, { ...own, name: "", named: MADE_UP });
      else if (isPair && index === 1) this.visit(item, { ...own, name: first });
      else if (isHeaders && index % 2 === 1) this.visit(item, { ...own, name: texts[index - 1]! });
      else this.visit(item, own);
    }
  }

  /** A command with its arguments, or a seed phrase word by word. */
  #addOfTexts(texts: readonly string[], place: Place): void {
    const isCommand = texts.some((text) => text.startsWith("-"));
    this.#addSecret(place, isCommand ? secretInArguments(texts) : null);
    const named = secretNamed(place.name)?.set;
    const isCard = named === "cards" && isSplitCard(texts);
    this.#addSecret(place, isCard ? { set: "cards", what: "the number of a payment card" } : null);
    this.#addSecret(place, letterIn(texts));
    const isSeed = named === "keys" && isSeedPhrase(texts.join(" "));
    this.#addSecret(place, isSeed ? { set: "keys", what: "a seed phrase" } : null);
  }

  #visitRow(row: readonly Json[], columns: readonly string[], place: Place): void {
    for (const [index, cell] of row.entries()) {
      this.visit(cell, { ...inList(place, index), name: columns[index] ?? "" });
    }
  }

  #visitObject(object: JsonObject, place: Place): void {
    const keys = Object.keys(object);
    const told = siblingsOf(object, keys, place.name);
    const table = tableIn(object, keys);
    const further = isMailPart(place.field) ? place.around.slice(0, AROUND_MAX) : [];
    const context = { beside: keys, around: [place.beside, [`outer_${place.name}`], ...further] };
    const prefix = prefixIn(object, keys);
    for (const key of keys) {
      const value = object[key];
      if (value === undefined) continue;
      const plain = inObject(place, key, context);
      const { name = plain.name, named = plain.named } = told(key);
      const own: Place = { ...plain, name, named };
      if (this.#forbidden.has(key.toLowerCase())) {
        this.#add(own, "forbidden", "a field that the rule forbids");
      }
      if (key.length >= LONG_KEY) this.#addSecret(own, secretInText(key, ""));
      if (typeof value === "string" && prefix !== "" && value.length >= LONG_KEY) {
        this.#addSecret(own, secretShape(`${prefix}${value}`));
      }
      if (table?.at === key && isList(value)) this.#visitRows(value, table.columns, own);
      else this.visit(value, own);
    }
  }

  #visitRows(rows: readonly Json[], columns: readonly string[], place: Place): void {
    for (const [index, row] of rows.entries()) {
      const own = inList(place, index);
      if (isList(row)) this.#visitRow(row, columns, own);
      else this.visit(row, own);
    }
  }

  #visitNumber(value: number, place: Place): void {
    const secret = secretInField(namedOf(place), value);
    this.#addSecret(place, secret ?? secretInText(String(value), place.name));
  }

  #visitText(text: string, place: Place): void {
    const shown = text.slice(0, Math.min(TEXT_OF_VALUE_MAX, TEXT_MAX - this.#chars));
    this.#chars += shown.length;
    if (shown.length < text.length) this.isCutShort = true;
    const depth = place.jsonDepth ?? 0;
    const inner = innerJson(shown, depth);
    if (inner !== undefined) {
      this.visit(inner, { ...place, jsonDepth: depth + 1 });
      return;
    }
    const encoded = depth < JSON_DEPTH_MAX ? encodedIn(shown) : null;
    const before = this.findings.length;
    if (encoded !== null) this.#visitText(encoded, { ...place, jsonDepth: depth + 1 });
    if (this.findings.length > before) return;
    this.#addSecret(
      place,
      secretInField(namedOf(place), shown) ??
        secretInText(shown, place.name) ??
        contentIn(place, shown),
    );
  }

  #addSecret(place: Place, secret: Secret | null): void {
    if (secret !== null && this.#search.sets.has(secret.set)) {
      this.#add(place, secret.set, secret.what);
    }
  }

  #add({ steps, path }: Place, rule: Finding["rule"], what: string): void {
    this.findings.push({ path: path === "" ? "payload" : path, steps, rule, what });
  }
}

/** `sk_live_`, which stands before the rest of a token in another field. */
function prefixIn(object: JsonObject, keys: readonly string[]): string {
  const texts = keys.map((key) => object[key]).filter((value) => typeof value === "string");
  return texts.find((text) => /^[A-Za-z][\w-]{1,20}[_-]$/.test(text)) ?? "";
}

/** `body: { text: { data } }`: the subject stands further out. */
function isMailPart(field: string): boolean {
  return /^(?:body|text|html|content|parts?|message)$/i.test(field);
}

/** The bytes of a key, one by one. */
function isBytes(list: readonly Json[]): boolean {
  return list.length >= 16 && list.every((byte) => Number.isInteger(byte) && Number(byte) < 256);
}

/** The name of the field counts first. */
function namedOf({ name, named }: Place): NamedSecret | null {
  return secretNamed(name) ?? named ?? null;
}

/** The value of a text that is JSON; undefined: the text is none. */
function innerJson(text: string, depth: number): Json | undefined {
  const first = text.trimStart()[0];
  if (depth >= JSON_DEPTH_MAX || (first !== "{" && first !== "[")) return undefined;
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
