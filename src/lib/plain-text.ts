/**
 * Removes control characters from text. Names, errors and results come from users, and some
 * characters move a terminal's cursor, change its colours or reverse a line.
 */

/** Controls of both sets (C0, C1), and the marks that change the direction of what follows. */
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const STEERING_BUT_LINES = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
/** The control characters that `JSON.stringify` does not escape. */
const STEERING_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text on one line, in which U+FFFD replaces control characters. */
export function plain(text: string): string {
  return text.replace(STEERING, "\ufffd");
}

/** Text with line breaks and tabs, in which U+FFFD replaces other control characters. */
export function plainLines(text: string): string {
  return text.replace(STEERING_BUT_LINES, "\ufffd");
}

/** JSON text with the same value, in which control characters are written as `\uXXXX`. */
export function plainJson(json: string): string {
  return json.replace(
    STEERING_IN_JSON,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
