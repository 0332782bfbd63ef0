/**
 * Whole numbers beyond 2^53 lose digits when JavaScript reads JSON. A value that the server or the
 * page has read shows such a number as `≈ 9007199254740992`; the texts of a job and of a dead
 * letter have the digits. Pure.
 */

/** A text, which stays as it is, or a number. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

export function isInexact(value: unknown): boolean {
  return typeof value === "number" && Math.abs(value) >= 2 ** 53;
}

/** The text of a number that was read. */
export function markedNumber(text: string): string {
  return isInexact(Number(text)) ? `≈ ${text}` : text;
}

/** The JSON of a value that was read, in one line; null for no value. */
export function markedJson(value: unknown): string | null {
  const text = JSON.stringify(value);
  if (text === undefined) return null;
  return text.replaceAll(TOKEN, (token) => (token.startsWith('"') ? token : markedNumber(token)));
}
