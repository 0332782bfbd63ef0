/**
 * The language of the query bar: `type:email state:failed payload.user.id=42 error:"time out"
 * age<1h`. Pure: from text to terms, from terms to the filter of the API, and back.
 */

export interface Term {
  readonly key: string;
  readonly sign: ":" | "=" | "<" | ">";
  readonly value: string;
}

/** A word that is no term, or a term that the screen does not know. */
export interface Wrong {
  readonly text: string;
  readonly message: string;
}

const TERM =
  /([A-Za-z_][\w.\-[\]]*)\s*([:=<>])\s*("(?:[^"\\]|\\.)*"?|[^\s"]+)|("(?:[^"\\]|\\.)*"?|\S+)/g;

export interface Parsed {
  readonly terms: readonly Term[];
  /** Words without a key: a part of the payload. */
  readonly words: readonly string[];
}

export function parseQuery(text: string): Parsed {
  const terms: Term[] = [];
  const words: string[] = [];
  for (const [, key, sign, value, word] of text.matchAll(TERM)) {
    if (key !== undefined && value !== undefined) {
      terms.push({ key, sign: signOf(sign), value: unquoted(value) });
    } else if (word !== undefined) words.push(unquoted(word));
  }
  return { terms, words };
}

export function termText({ key, sign, value }: Term): string {
  return `${key}${sign}${quoted(value)}`;
}

export function queryText({ terms, words }: Parsed): string {
  return [...terms.map(termText), ...words.map(quoted)].join(" ");
}

/** The query without a term, or with another value for it. */
export function withTerm(text: string, key: string, value: string | null): string {
  const { terms, words } = parseQuery(text);
  const others = terms.filter((term) => term.key !== key);
  const added: readonly Term[] = value === null ? [] : [{ key, sign: ":", value }];
  return queryText({ terms: [...others, ...added], words });
}

function signOf(text: string | undefined): Term["sign"] {
  return text === "=" || text === "<" || text === ">" ? text : ":";
}

function quoted(value: string): string {
  return /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
}

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text;
  return text.replace(/^"|"$/g, "").replaceAll(/\\(.)/g, "$1");
}
