/**
 * How values come back. The driver hands out every value as text; what becomes of it is decided
 * here for every statement, and not by the settings of the driver or of the session.
 */
import { idFromUuid, idHex } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";

type ValueParser = (text: string) => unknown;

const CONTROLS = /\p{Cc}/u;

const asText: ValueParser = (text) => text;

/**
 * By the type's number in PostgreSQL's catalogue. What is not listed stays text: `json` above all,
 * which must come back byte for byte. Instants are not listed either: their text depends on the
 * session, so every statement semaphore them into milliseconds by `ms_of`.
 */
const READERS: ReadonlyMap<number, ValueParser> = new Map<number, ValueParser>([
  [16, (text) => text === "t"],
  [20, Number],
  [21, Number],
  [23, Number],
  [701, Number],
  [1005, numbers],
  [1007, numbers],
  [1016, numbers],
  [2950, idFromUuid],
  [2951, (text) => elements(text).map(idFromUuid)],
]);

export const types: { getTypeParser(oid: number): ValueParser } = {
  getTypeParser: (oid) => READERS.get(oid) ?? asText,
};

/** A job's id as PostgreSQL takes it: 32 hexadecimal digits. */
export function uuidOf(id: JobId): string {
  return idHex(id);
}

/** Ids as a list of uuid. */
export function uuids(ids: readonly JobId[]): string {
  return `{${ids.map(uuidOf).join()}}`;
}

/** Numbers as a list of integer or bigint. */
export function list(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? "NULL").join()}}`;
}

/** Texts as a list of text. */
export function texts(values: readonly (string | null)[]): string {
  return `{${values.map((value) => (value === null ? "NULL" : quoted(value))).join()}}`;
}

/** JSON escapes what PostgreSQL does, in the same way and far quicker, and control characters. */
function quoted(text: string): string {
  if (!CONTROLS.test(text)) return JSON.stringify(text);
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function numbers(text: string): (number | null)[] {
  return elements(text).map((each) => (each === "NULL" ? null : Number(each)));
}

/** The elements of a flat list of numbers or ids, none of which is ever quoted. */
function elements(text: string): string[] {
  return text === "{}" ? [] : text.slice(1, -1).split(",");
}
