/** The check of an edited payload before it is sent. Pure. */
import { markedNumber } from "../../lib/inexact.ts";

export type DraftCheck =
  | { readonly isJson: true; readonly warnings: readonly string[] }
  | { readonly isJson: false; readonly message: string; readonly line: number | null };

/** The server writes this instead of what a role may not read. */
const HIDDEN = '"[redacted]"';

export function checkDraft(text: string): DraftCheck {
  try {
    JSON.parse(text);
    return { isJson: true, warnings: warningsOf(text) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { isJson: false, message: withoutText(message), line: lineOf(message, text) };
  }
}

function warningsOf(text: string): readonly string[] {
  if (!text.includes(HIDDEN)) return [];
  return [`${HIDDEN} is a hidden value: it would replace the real one.`];
}

/** Engines quote a part of the text; the line says where to look. */
function withoutText(message: string): string {
  return message.replace(/, (?:\.{3})?".*$/s, "").replace(/ in JSON at position.*$/s, "");
}

function lineOf(message: string, text: string): number | null {
  const line = /line (\d+)/.exec(message)?.[1];
  if (line !== undefined) return Number(line);
  const position = /position (\d+)/.exec(message)?.[1];
  if (position === undefined) return null;
  return text.slice(0, Number(position)).split("\n").length;
}

/** The first plain fields of a payload: people know a job by them, and not by its id. */
export function payloadHint(payload: unknown, max = 3): string {
  if (payload === null || typeof payload !== "object") return "";
  return Object.entries(payload)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .slice(0, max)
    .map(([name, value]) => `${name}: ${plainText(value).slice(0, 80)}`)
    .join(", ");
}

function plainText(value: unknown): string {
  return typeof value === "number" ? markedNumber(String(value)) : String(value);
}
