/** One line of `ctx.log` as it is stored: bounded, and such as both databases take. */
import type { JsonText } from "../../core/job.ts";
import { asFields, loggable } from "../../lib/loggable.ts";
import type { LogLevel, LogEntry } from "../../store/types/notes.ts";

const LINE_LENGTH_MAX = 4_000;

/** Takes whatever a handler gives, and never throws. */
export function logLine(at: number, level: LogLevel, message: unknown, fields: unknown): LogEntry {
  return {
    at,
    level,
    message: cut(textOf(message)).replaceAll("\0", "\ufffd"),
    fields: fields === undefined ? null : fieldsOf(fields),
  };
}

function textOf(message: unknown): string {
  return typeof message === "string" ? message : JSON.stringify(loggable({ message }, "line"));
}

function fieldsOf(fields: unknown): JsonText {
  const text = storable(JSON.stringify(loggable(asFields(fields), "line")));
  return text.length <= LINE_LENGTH_MAX ? text : JSON.stringify({ cut: cut(text) });
}

function cut(text: string): string {
  const { length } = text;
  const whole = length <= LINE_LENGTH_MAX;
  const kept = whole
    ? text
    : `${text.slice(0, LINE_LENGTH_MAX)}… (cut: it had ${length} characters)`;
  return kept.toWellFormed();
}

/** Every escape sequence, so that an escaped backslash is not taken for the begin of another. */
const ESCAPES = /\\(?:u([0-9a-f]{4})|.)/gi;
/** U+0000, or half a surrogate pair: a whole one is not written as an escape. */
const UNSTORABLE = /^(?:0000|d[89a-f][0-9a-f]{2})$/i;

/** JSON without what a database does not take: signs that are no text. */
function storable(json: JsonText): JsonText {
  if (!json.includes("\\u")) return json;
  return json.replace(ESCAPES, (escape: string, code: string | undefined) =>
    code !== undefined && UNSTORABLE.test(code) ? "\ufffd" : escape,
  );
}
