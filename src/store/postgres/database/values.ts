/**
 * Encodes parameters and decodes results. The driver returns every value as text; the parsers here
 * apply to every statement, whatever the settings of the driver or of the session.
 */
import { idFromUuid, idHex } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";

type ValueParser = (text: string) => unknown;

const CONTROLS = /\p{Cc}/u;

const asText: ValueParser = (text) => text;

/**
 * Parsers by type OID. All other types stay text: above all `json`, which must be returned byte for
 * byte. Timestamps are not listed either: their text depends on the session, so statements convert
 * them to milliseconds with `ms_of`.
 */
const PARSERS: ReadonlyMap<number, ValueParser> = new Map<number, ValueParser>([
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
  getTypeParser: (oid) => PARSERS.get(oid) ?? asText,
};

/** The uuid of a job id: 32 hexadecimal digits. */
export function uuidOf(id: JobId): string {
  return idHex(id);
}

/** Ids as uuid[]. */
export function uuids(ids: readonly JobId[]): string {
  return `{${ids.map(uuidOf).join()}}`;
}

/** Numbers as integer[] or bigint[]. */
export function list(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? "NULL").join()}}`;
}

/** Texts as text[]. */
export function texts(values: readonly (string | null)[]): string {
  return `{${values.map((value) => (value === null ? "NULL" : quoted(value))).join()}}`;
}

/** JSON.stringify escapes the same characters, and faster, but control characters as well. */
function quoted(text: string): string {
  if (!CONTROLS.test(text)) return JSON.stringify(text);
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function numbers(text: string): (number | null)[] {
  return elements(text).map((each) => (each === "NULL" ? null : Number(each)));
}

/** The elements of a flat array of numbers or ids, which are never quoted. */
function elements(text: string): string[] {
  return text === "{}" ? [] : text.slice(1, -1).split(",");
}
