/**
 * How long the answer to a statement is waited for. No answer most often means a broken connection,
 * so a statement that workers depend on is soon sent again on another connection.
 */

/** The header `-- timeout:` of a query names one of these; `answer` is the default. */
const TIMEOUTS_MS = {
  /** Most statements take milliseconds; this much is for a server under heavy load. */
  answer: 8_000,
  /** A heartbeat must arrive well before its lease ends, also if the first try is lost. */
  heartbeat: 3_000,
  /** Lists, counts and retention. */
  reader: 60_000,
  doctor: 600_000,
} as const;
/** A slow connection carries a large batch at a million bytes per second. */
const BYTES_PER_MS = 1_000;

export type TimeoutClass = keyof typeof TIMEOUTS_MS;

export const ANSWER_MS: number = TIMEOUTS_MS.answer;

export function timeoutMs(timeout: TimeoutClass, values: readonly unknown[]): number {
  return TIMEOUTS_MS[timeout] + Math.round(bytesOf(values) / BYTES_PER_MS);
}

function bytesOf(values: readonly unknown[]): number {
  let bytes = 0;
  for (const value of values) if (typeof value === "string") bytes += value.length;
  return bytes;
}
