/** Secrets behind a name in a text: settings, connection strings, queries, markup, source code. */
import { secretInField, type Secret } from "../fields.ts";
import { secretNamed } from "../names.ts";
import { anyOf, inSequence } from "../patterns.ts";
import { hasDigit, isPlaceholder, isStrong, isTemplate, kindsOf } from "../values.ts";
import { wordsOf } from "../words.ts";

/** A name, up to two quotes or brackets, and the sign of an assignment. */
const ASSIGNMENT = inSequence(
  "g",
  /(?<![\w.\u0080-\uFFFF])([A-Za-z_\u00C0-\uFFEF][\w.%\u0080-\uFFEF-]{1,80})/,
  /["'`\\\])]{0,4}[ \t]{0,8}(?:=>|:=|={1,2}|->|[:：])[ \t]{0,8}/,
);
/** The value: in quotes, in braces as in ODBC, in the next line as in YAML, or up to a blank. */
const VALUE = inSequence(
  "y",
  /(?:[|>][+-]?\n[ \t]{0,40})?/,
  anyOf(
    /\\?"([^"\n]{1,400}?)\\?"|\\?'([^'\n]{1,400})'|`([^`\n]{1,400})`/,
    /\{((?:[^{}]|\}\}){1,200})\}|([^\s"'`&,;<>]{2,400})/,
  ),
);
/** `<password>x</password>`. */
const ELEMENT = /<([\w:.-]{2,60})(?:\s[^<>]{0,200})?>([^<>]{2,400})<\//g;
/** `<add key="Password" value="x"/>`, `define('DB_PASSWORD', 'x')`, and lists of properties. */
const PAIRED = inSequence(
  "g",
  anyOf(
    /["']([\w.:-]{2,60})["'](?:\s{0,3},\s{0,3}|\s[^<>"']{0,40}\bvalue\s{0,2}=\s{0,2})["']/,
    /<key>([\w.: -]{2,60})<\/key>\s{0,20}<string>/,
    /\bname: {0,4}["']?([\w.-]{2,60})["']?\r?\n[ \t]{0,40}value: {0,4}["']?/,
    /; name="([\w.-]{2,60})"(?:\r?\n[\w-]{1,40}: [^\r\n]{1,100})?\r?\n\r?\n/,
  ),
  /([^"'<\n]{2,400})/,
);
/** `setPassword("x")`, `ENV DB_PASSWORD x`, `requirepass x`, `enable secret 0 x`. */
const CALL = /([A-Za-z_]\w{2,60})\(\s{0,3}["']([^"'\n]{3,200})["']/g;
const DIRECTIVE = inSequence(
  "gim",
  /(?:^|[\s"'(])(?:(?:ENV|ARG|SETX?|EXPORT)\s{1,4})?/,
  /([a-z_.]{0,40}(?:password|passwd|requirepass|masterauth|secret|token|passphrase|api.?key|pwd))/,
  /\s{1,4}(?:[0-9]\s{1,2})?["']?([^\s"'<>;,]{5,200})/,
);
const STATED = inSequence(
  "i",
  anyOf(
    inSequence(
      "",
      /\b/,
      anyOf(
        /identified (?:with \S{1,60} )?by|with password|password for \S{1,60}|password/,
        /convertto-securestring(?: -string)?/,
      ),
      /\s{1,4}["']([^\s"'<;]{3,200})["']/,
    ),
    /\blogin\s{1,40}\S{1,80}\s{1,40}password\s{1,40}["']?([^\s"'<;]{3,200})/,
  ),
);
/** A line of `.pgpass`: host, port, database, user, password. */
const PGPASS =
  /^(?:[a-z*][\w.*-]{0,100}):(?:\d{2,5}|\*):[^:\s]{1,60}:[a-z*][^:\s]{0,60}:([^\s:]{3,200})$/im;
/** `user/password@host`, as Oracle writes it. */
const SLASH_LOGIN =
  /(?:^|[\s:"'])[A-Za-z][\w$#]{1,30}\/([^\s/@"']{4,60})@(?:\/\/)?[\w.-]{2,80}(?:[:/]|$|\s)/;
/** The words before the sign that may belong to the name: `Account Key: x`, `mot de passe : x`. */
const BEFORE_LENGTH = 40;
const WORDS_BEFORE = 4;
/** The assignments of a text that are read. */
const ASSIGNMENTS_MAX = 5_000;

/** The secret that a text assigns to a name; null: none. */
export function secretAssigned(text: string): Secret | null {
  if (!/[=:,<：(]|->/.test(text)) return secretStated(text);
  return byAssignment(text) ?? byPair(text) ?? secretStated(text);
}

function byAssignment(text: string): Secret | null {
  ASSIGNMENT.lastIndex = 0;
  for (let count = 0; count < ASSIGNMENTS_MAX; count += 1) {
    const match = ASSIGNMENT.exec(text);
    if (match === null) return null;
    VALUE.lastIndex = ASSIGNMENT.lastIndex;
    const value = VALUE.exec(text);
    if (value === null) continue;
    const name = match[1]!;
    const start = Math.max(0, match.index - BEFORE_LENGTH);
    const found = assigned(fullName(text.slice(start, match.index), name), valueIn(value), name);
    if (found !== null) return found;
  }
  return null;
}

/** The value within quotes, in braces, or plain. */
function valueIn(match: RegExpExecArray): { readonly text: string; readonly isQuoted: boolean } {
  const plain = match[5];
  if (plain !== undefined) return { text: decoded(plain), isQuoted: false };
  const quoted = match.slice(1, 5).find((part) => part !== undefined)!;
  return { text: quoted, isQuoted: true };
}

/** The name next to the sign, with the words before it on the line. */
function fullName(before: string, name: string): string {
  const tail = /(?:[\p{L}\p{N}_'’-]+[ \t]){1,4}$/u.exec(before)?.[0] ?? "";
  return wordsOf(`${tail}${name}`).slice(-WORDS_BEFORE).join("_");
}

/** Within a text, the value must look like a secret as well: `password: must be longer`. */
function assigned(
  name: string,
  { text: value, isQuoted }: { readonly text: string; readonly isQuoted: boolean },
  shortName = name,
): Secret | null {
  const text = isQuoted ? value : value.replace(/[.)\]}!?]+$/, "");
  if (isTemplate(text) || text.length < 4) return null;
  const found = secretInField(secretNamed(name) ?? secretNamed(shortName), text);
  if (found === null) return null;
  const isWord = /^[A-Z]?[a-z]+$|^[A-Z]+$/.test(text);
  const isVariable = /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(shortName);
  return isWord && !isSetting(name, isQuoted || isVariable) ? null : found;
}

/** A word is a password in `password: "tulip"`, and none in `Password: changed`. */
function isSetting(name: string, isQuoted: boolean): boolean {
  return isQuoted && secretNamed(name)?.form === "password";
}

function byPair(text: string): Secret | null {
  for (const [, name = "", value = ""] of text.matchAll(ELEMENT)) {
    const found = secretInField(secretNamed(name.replace(/^.*:/, "")), value);
    if (found !== null && !isTemplate(value)) return found;
  }
  for (const [, quoted, key, entry, part, value = ""] of text.matchAll(PAIRED)) {
    const name = quoted ?? key ?? entry ?? part!;
    const found = assigned(name, { text: value.trim(), isQuoted: true });
    if (found !== null) return found;
  }
  for (const [, name = "", value = ""] of text.matchAll(CALL)) {
    const found = assigned(name.replace(/^(?:set|with|use)_?/, ""), {
      text: value,
      isQuoted: true,
    });
    if (found !== null) return found;
  }
  return null;
}

/** Settings and statements without a sign between name and value. */
function secretStated(text: string): Secret | null {
  const stated = STATED.exec(text);
  const password = stated?.[1] ?? stated?.[2] ?? PGPASS.exec(text)?.[1];
  const oracle = SLASH_LOGIN.exec(text)?.[1];
  const isOracle = oracle !== undefined && kindsOf(oracle) >= 2 && hasDigit(oracle);
  if ((password !== undefined && isPlain(password)) || (isOracle && isPlain(oracle))) {
    return { set: "passwords", what: "a password in a text" };
  }
  for (const [, name = "", value = ""] of text.matchAll(DIRECTIVE)) {
    if (!isStrong(value.replace(/[.,:!?)]+$/, ""), 3) || !isPlain(value)) continue;
    const named = secretNamed(name);
    return { set: named?.set ?? "passwords", what: "a secret in a text" };
  }
  return null;
}

function isPlain(text: string): boolean {
  return !isPlaceholder(text) && !isTemplate(text);
}

function decoded(value: string): string {
  if (!value.includes("%")) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
