/**
 * The cursor of a page of jobs: the key of the last job that the search has read. The text is
 * shorter than an id, and stays valid when the job is removed.
 */

const CURSOR = /^p([0-9a-z]{1,11})$/i;
const BASE = 36;

export function cursorOf(key: number): string {
  return `p${key.toString(BASE)}`;
}

/** Null: the text is no cursor. */
export function keyOfCursor(text: string): number | null {
  const [, digits] = CURSOR.exec(text) ?? [];
  const key = digits === undefined ? Number.NaN : Number.parseInt(digits, BASE);
  return Number.isSafeInteger(key) ? key : null;
}
