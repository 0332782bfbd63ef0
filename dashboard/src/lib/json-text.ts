/**
 * JSON as text: indented and split into coloured parts without reading it into values, so that
 * large numbers and repeated names are shown exactly as they are stored. Pure.
 */

export interface JsonPart {
  readonly kind: "name" | "text" | "number" | "word" | "sign";
  readonly text: string;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]|\s+|./gs;

/** The parts of indented JSON. A text that is no JSON is returned as it is. */
export function jsonParts(text: string): readonly JsonPart[] {
  const tokens = (text.match(TOKEN) ?? []).filter((token) => token.trim() !== "");
  const parts: JsonPart[] = [];
  let depth = 0;
  const line = (): string => `\n${"  ".repeat(depth)}`;
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    if (token === "{" || token === "[") {
      const isEmpty = next === "}" || next === "]";
      depth += 1;
      parts.push(sign(isEmpty ? token : token + line()));
    } else if (token === "}" || token === "]") {
      const isEmpty = tokens[index - 1] === "{" || tokens[index - 1] === "[";
      depth = Math.max(0, depth - 1);
      parts.push(sign(isEmpty ? token : line() + token));
    } else if (token === ",") parts.push(sign(token + line()));
    else if (token === ":") parts.push(sign(": "));
    else parts.push({ kind: kindOf(token, next), text: token });
  }
  return parts;
}

/** The same, as one text. */
export function indented(text: string): string {
  return jsonParts(text)
    .map((part) => part.text)
    .join("");
}

function sign(text: string): JsonPart {
  return { kind: "sign", text };
}

function kindOf(token: string, next: string | undefined): JsonPart["kind"] {
  if (token.startsWith('"')) return next === ":" ? "name" : "text";
  return /^[-\d]/.test(token) ? "number" : "word";
}
