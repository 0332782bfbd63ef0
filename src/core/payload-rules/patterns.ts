/** Long regular expressions, written line by line. */

/** One expression after the other. */
export function inSequence(flags: string, ...parts: readonly RegExp[]): RegExp {
  return new RegExp(parts.map(({ source }) => source).join(""), flags);
}

/** One of the expressions. */
export function anyOf(...alternatives: readonly RegExp[]): RegExp {
  return new RegExp(`(?:${alternatives.map(({ source }) => source).join("|")})`);
}
