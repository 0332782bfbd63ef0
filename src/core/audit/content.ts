/** What an audit entry says about the state before and after an act. */
import type { JsonText } from "../job.ts";

/** The most bytes of `before`, and of `after`. */
export const AUDIT_BYTES_MAX = 4_096;
/** The most characters of a reason. */
export const AUDIT_REASON_MAX = 2_000;

type Content = Readonly<Record<string, unknown>>;

/**
 * The JSON of a small state. Parts that are undefined are left out. In place of a state that is too
 * large, the text says how large it was.
 */
export function auditContent(state: Content | null): JsonText | null {
  if (state === null) return null;
  const text = JSON.stringify(state);
  const bytes = bytesOf(text);
  if (bytes <= AUDIT_BYTES_MAX) return text;
  return JSON.stringify({ cut: true, bytes });
}

/** A reason as it is stored: bounded, well-formed and without U+0000. */
export function auditReason(reason: string | null): string | null {
  if (reason === null || reason === "") return null;
  const plain = reason.toWellFormed().replaceAll("\0", "");
  return plain.length <= AUDIT_REASON_MAX
    ? plain
    : `${plain.slice(0, AUDIT_REASON_MAX - 1).toWellFormed()}…`;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
