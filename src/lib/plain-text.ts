/**
 * Text that does not steer whoever shows it. Names, errors and results are other people's words,
 * and some of their letters move a terminal's cursor, change its colours or turn a line around.
 */

/** Controls of both sets (C0, C1), and the marks that change the direction of what follows. */
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const STEERING_BUT_LINES = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
/** What `JSON.stringify` leaves as it is. */
const STEERING_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** On one line, with a mark in the place of what would steer. */
export function plain(text: string): string {
  return text.replace(STEERING, "\ufffd");
}

/** The same for a text that may have several lines. */
export function plainLines(text: string): string {
  return text.replace(STEERING_BUT_LINES, "\ufffd");
}

/** A JSON text with the same value, in which such letters are written as `\uXXXX`. */
export function plainJson(json: string): string {
  return json.replace(
    STEERING_IN_JSON,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
