/** One line of `ctx.log` as it is stored: bounded, and valid text in both databases. */
import type { JsonText } from "../../core/job.ts";
import { asFields, loggable } from "../../lib/loggable.ts";
import type { LogLevel, LogEntry } from "../../store/types/notes.ts";

const LINE_LENGTH_MAX = 4_000;

/** Accepts any values. Never throws. */
export function logLine(
  at: number,
  level: LogLevel,
  message: unknown,
  fields: unknown,
): Omit<LogEntry, "turn"> {
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

/** Matches all escapes, so that an escaped backslash is not read as the start of another one. */
const ESCAPES = /\\(?:u([0-9a-f]{4})|.)/gi;
/** U+0000, or half a surrogate pair. JSON.stringify does not escape whole pairs. */
const UNSTORABLE = /^(?:0000|d[89a-f][0-9a-f]{2})$/i;

/** JSON without characters that a database refuses. */
function storable(json: JsonText): JsonText {
  if (!json.includes("\\u")) return json;
  return json.replace(ESCAPES, (escape: string, code: string | undefined) =>
    code !== undefined && UNSTORABLE.test(code) ? "\ufffd" : escape,
  );
}
