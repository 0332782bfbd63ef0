/** The check of an edited payload before it is sent. Pure. */

export type DraftCheck =
  | { readonly isJson: true; readonly value: unknown; readonly warnings: readonly string[] }
  | { readonly isJson: false; readonly message: string; readonly line: number | null };

/** The server writes this instead of what a role may not read. */
const HIDDEN = '"[redacted]"';

export function checkDraft(text: string): DraftCheck {
  try {
    return { isJson: true, value: JSON.parse(text), warnings: warningsOf(text) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { isJson: false, message: withoutText(message), line: lineOf(message, text) };
  }
}

function warningsOf(text: string): readonly string[] {
  const rounded = roundedNumbers(text).map(
    (number) => `${number} would be sent as ${String(Number(number))}: write it as a text.`,
  );
  const hidden = text.includes(HIDDEN)
    ? [`${HIDDEN} is a hidden value: it would replace the real one.`]
    : [];
  return [...rounded, ...hidden];
}

/** Numbers of a JSON text that a double cannot hold with all their digits. */
export function roundedNumbers(text: string): readonly string[] {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g) ?? [];
  return tokens.filter((token) => !token.startsWith('"') && !isExact(token));
}

function isExact(token: string): boolean {
  return digitsOf(token) === digitsOf(String(Number(token)));
}

/** Sign, digits and power of ten in one form: `1.50` and `15e-1` are equal. */
function digitsOf(token: string): string {
  const [, sign = "", whole = "", part = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const digits = (whole + part).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  const exponent = Number(power) - part.length + (digits.length - significant.length);
  return `${sign}${significant}e${exponent}`;
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
    .map(([name, value]) => `${name}: ${String(value).slice(0, 80)}`)
    .join(", ");
}
