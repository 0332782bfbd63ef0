/**
 * The rule for values that may be stored: payloads and results.
 *
 * An accepted value is read back from JSON unchanged, from either database, except that -0 becomes
 * 0. The check writes the
 * text itself, so that the checked value is the stored value, even if a getter changes its answer.
 *
 * Results are treated differently in one point, as their public type says: an object with a
 * `toJSON` method is replaced by the result of the method, and functions, symbols, symbol keys and
 * named properties of arrays are left out.
 *
 * A number of `JSON.rawJSON` is stored with all its digits, so that an edited payload keeps the
 * numbers that JavaScript cannot hold. Handlers read it as JavaScript reads JSON.
 */
import { isExactNumber } from "../lib/exact-json.ts";
import { MillraceError } from "./errors.ts";
import type { JsonText } from "./job.ts";
import { storable, utf8Bytes } from "./text.ts";

/** A value that can be stored. A property that is `undefined` counts as absent; -0 becomes 0. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

export interface Encoded {
  /**
   * `null` when there is no value: a job without payload, or a handler that returns nothing.
   */
  readonly text: JsonText | null;
  /** The length of the text in UTF-8. */
  readonly bytes: number;
}

/** The largest payload or result. */
export const PAYLOAD_BYTES_MAX = 1_000_000;

/**
 * The largest value that is stored within an envelope, and the envelope within another one: the
 * rest is for what surrounds it.
 */
export const ANSWER_BYTES_MAX = 999_000;

/** The maximum depth of nested arrays and objects. */
export const DEPTH_MAX = 100;

/**
 * The longest number of `JSON.rawJSON`, with its sign, point and exponent. The `jsonb` of
 * PostgreSQL, by which plain SQL reads payloads, holds 16,383 decimals.
 */
export const EXACT_DIGITS_MAX = 1_000;

const PATH_LENGTH_MAX = 1_000;

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** Quotes, controls, lone surrogates. Almost no text has any, so that one test is enough. */
const NEEDS_CARE = /["\\\p{Cc}\p{Cs}]/u;

/** What the message suggests instead of an instance of these classes. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ["Date", "an ISO string"],
  ["Map", "an array of entries"],
  ["Set", "an array"],
  ["Error", "its message"],
  ["Promise", "what it resolves to"],
  ["Buffer", "a base64 string"],
  ["Uint8Array", "a base64 string"],
]);

/** The text of a payload, or a PAYLOAD_REFUSED that names the path. */
export function encodePayload(value: unknown): Encoded {
  return encode({ subject: "payload", root: value, trail: [] });
}

/** The text of a result, or a RESULT_REFUSED that names the path. */
export function encodeResult(value: unknown): Encoded {
  return encode({ subject: "result", root: value, trail: [] });
}

/** The value of a stored text. `what` names it in the error about a text that was damaged. */
export function decode(text: JsonText | null, what = "a stored value"): Json | undefined {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MillraceError("STORE_CORRUPT", `${what} is damaged: it is not JSON`, { cause });
  }
}

/** The canonical text of a value: keys are sorted by their code units. */
export function canonicalJson(text: JsonText): string {
  return writeSorted(JSON.parse(text));
}

/** The position of the check. The trail becomes a path only when a value is refused. */
interface PayloadWalk {
  readonly subject: "payload" | "result";
  /** The whole value. */
  readonly root: unknown;
  readonly trail: (string | number)[];
}

function encode(walk: PayloadWalk): Encoded {
  try {
    const given = resolved(walk.root, walk);
    if (given === undefined) return { text: null, bytes: 0 };

    const text = write(given, walk);
    const bytes = utf8Bytes(text);
    if (bytes > PAYLOAD_BYTES_MAX) refuseSize(walk);
    return { text, bytes };
  } catch (error) {
    if (error instanceof MillraceError) throw error;
    // A getter, a proxy or a toJSON method of the caller threw.
    return refuse(walk, "cannot be read", error);
  }
}

function write(value: unknown, walk: PayloadWalk): string {
  switch (typeof value) {
    case "string":
      return writeString(value, walk);
    case "number":
      return writeNumber(value, walk);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      return value === null ? "null" : writeNested(value, walk);
    case "bigint":
      return refuse(walk, "is a bigint: give a string");
    case "undefined":
      return refuse(walk, "is undefined: give null");
    case "function":
    case "symbol":
      return refuse(walk, `is a ${typeof value}`);
  }
}

function writeString(text: string, walk: PayloadWalk): string {
  if (text.length > PAYLOAD_BYTES_MAX) refuseSize(walk);
  if (!NEEDS_CARE.test(text)) return `"${text}"`;
  if (text.includes("\0")) refuse(walk, "contains U+0000, which databases cannot store");
  if (!text.isWellFormed())
    refuse(walk, "contains half of a surrogate pair: give well-formed text");
  return JSON.stringify(text);
}

function writeNumber(number: number, walk: PayloadWalk): string {
  if (!Number.isFinite(number)) refuse(walk, `is ${number}, which is not JSON`);
  if (Math.abs(number) > Number.MAX_SAFE_INTEGER) {
    refuse(walk, "is beyond ±(2^53 − 1), where numbers are not exact: give a string");
  }
  // This also turns -0 into 0.
  return String(number);
}

/** Digits as they were written. */
function writeExact(value: object, walk: PayloadWalk): string {
  const text = JSON.stringify(value);
  if (!/^-?\d/.test(text)) refuse(walk, "is raw JSON and no number: give the value itself");
  const number = Number(text);
  if (!Number.isFinite(number)) refuse(walk, "is beyond the largest number: give a string");
  if (number === 0) return "0";
  if (text.length > EXACT_DIGITS_MAX) {
    refuse(walk, `has more than ${EXACT_DIGITS_MAX} digits: give a string`);
  }
  return text;
}

function writeNested(value: object, walk: PayloadWalk): string {
  if (isExactNumber(value)) return writeExact(value, walk);
  if (walk.trail.length >= DEPTH_MAX) refuseDepth(walk);
  if (walk.subject === "payload" && Object.getOwnPropertySymbols(value).length > 0) {
    refuse(walk, "has a symbol as key");
  }
  if (Array.isArray(value)) return writeArray(value, walk);
  if (isPlain(value)) return writeObject(value, walk);
  return refuseInstance(value, walk);
}

function writeArray(items: readonly unknown[], walk: PayloadWalk): string {
  // The prototype of plain arrays is itself an array, in every realm; that of a subclass is not.
  if (!Array.isArray(Object.getPrototypeOf(items))) refuseInstance(items, walk);
  if (walk.subject === "payload" && Object.keys(items).length > items.length) {
    refuse(walk, "is an array with named properties, which JSON drops");
  }

  let text = "[";
  for (let i = 0; i < items.length; i += 1) {
    walk.trail.push(i);
    const item = resolved(items[i], walk);
    if (item === undefined && !(i in items)) refuse(walk, "is a hole in its array: give null");
    if (i > 0) text += ",";
    text += write(item, walk);
    walk.trail.pop();
    if (text.length > PAYLOAD_BYTES_MAX) refuseSize(walk);
  }
  return `${text}]`;
}

function writeObject(object: Readonly<Record<string, unknown>>, walk: PayloadWalk): string {
  let text = "{";
  for (const key of Object.keys(object)) {
    walk.trail.push(key);
    const member = resolved(object[key], walk);
    if (!isAbsent(member, walk)) {
      if (key === "__proto__")
        refuse(walk, "is a key that could set a prototype: use another name");
      if (text.length > 1) text += ",";
      text += `${writeString(key, walk)}:${write(member, walk)}`;
    }
    walk.trail.pop();
    if (text.length > PAYLOAD_BYTES_MAX) refuseSize(walk);
  }
  return `${text}}`;
}

/** The value that is stored instead of `value`. */
function resolved(value: unknown, walk: PayloadWalk): unknown {
  if (walk.subject === "payload" || typeof value !== "object" || value === null) return value;
  return "toJSON" in value && typeof value.toJSON === "function" ? value.toJSON() : value;
}

function isAbsent(member: unknown, walk: PayloadWalk): boolean {
  if (member === undefined) return true;
  return walk.subject === "result" && (typeof member === "function" || typeof member === "symbol");
}

/** The prototype is `null` or an `Object.prototype`; other realms (`node:vm`) have their own. */
function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

function writeSorted(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(writeSorted).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);

  const members = Object.entries(value)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${writeSorted(member)}`);
  return `{${members.join(",")}}`;
}

/**
 * A value that contains itself is too deep as well. Its path ends where the value occurs again.
 * Cycles are looked for here, so that values without one are not slowed down.
 */
function refuseDepth(walk: PayloadWalk): never {
  const { trail } = walk;
  let value = resolved(walk.root, walk);
  const above: unknown[] = [];
  for (const [depth, step] of trail.entries()) {
    above.push(value);
    value = resolved(Reflect.get(Object(value), step), walk);
    const first = above.indexOf(value);
    if (first === -1) continue;
    const whole = pathOf({ ...walk, trail: trail.slice(0, first) });
    refuse({ ...walk, trail: trail.slice(0, depth + 1) }, `is ${whole} again: it contains itself`);
  }
  refuse(walk, `is nested deeper than ${DEPTH_MAX} levels`);
}

function refuseSize(walk: PayloadWalk): never {
  refuse(
    walk,
    `is larger than ${PAYLOAD_BYTES_MAX} bytes as JSON: store it elsewhere and pass a reference`,
  );
}

function refuseInstance(value: object, walk: PayloadWalk): never {
  const { constructor } = value;
  const name = typeof constructor === "function" ? constructor.name : "";
  const instead = INSTEAD.get(value instanceof Error ? "Error" : name) ?? "a plain object or array";
  refuse(walk, `is an instance of ${name === "" ? "a class" : name}: give ${instead}`);
}

function refuse(walk: PayloadWalk, reason: string, cause?: unknown): never {
  const path = pathOf(walk);
  const code = walk.subject === "payload" ? "PAYLOAD_REFUSED" : "RESULT_REFUSED";
  throw new MillraceError(code, `${path} ${reason}.`, {
    details: { path, reason },
    ...(cause === undefined ? {} : { cause }),
  });
}

function pathOf({ subject, trail }: PayloadWalk): string {
  return storable(subject + trail.map(pathStep).join(""), PATH_LENGTH_MAX);
}

function pathStep(step: string | number): string {
  if (typeof step === "number") return `[${step}]`;
  return IDENTIFIER.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}
