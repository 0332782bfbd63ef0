/**
 * What the name of a field says about its value. `db_password` names a password; `token_count`,
 * `password_reset_requested_at`, `secretary_id` and the `key` of an object store name none.
 */
import type { SensitiveSet } from "./rule.ts";
import {
  AMBIGUOUS_PASSWORDS,
  OTHER_PASSES,
  OWNERS_BEHIND,
  PASSWORD_OWNERS,
  PASSWORD_STEMS,
  SHORT_PASSWORDS,
} from "./tables/password-names.ts";
import * as names from "./tables/secret-names.ts";
import { wordsOf } from "./words.ts";

/** The secret that a field is named after. */
export interface NamedSecret {
  readonly set: Exclude<SensitiveSet, "mail_bodies" | "document_content">;
  /** What the value must look like to be taken for the secret. */
  readonly form:
    | "password"
    | "pass"
    | "strong"
    | "made up"
    | "distinct"
    | "secret"
    | "random"
    | "long"
    | "bytes"
    | "header"
    | "code"
    | "digits"
    | "short digits"
    | "card"
    | "part"
    | "cvv";
}

const PASSWORD: NamedSecret = { set: "passwords", form: "password" };

/** The words that say whose password it is, and in which state, at most. */
const OWNERS_BEHIND_MAX = 4;
const PHRASE_WORDS_MAX = 5;
const STEM_LENGTH_MIN = 6;

/** A compound that ends with a password: `initialkennwort`, `dbpasswd`, `数据库密码`. */
const PASSWORD_AT_END = new RegExp(
  `(?:${[...PASSWORD_STEMS].filter(endsCompounds).join("|")}|pwd|pswd)$`,
);

/** Payloads of a type have the same names again and again. The answers for names never change. */
const ANSWERS = new Map<string, NamedSecret | null>();
const ANSWERS_MAX = 5_000;

/** The secret that a name announces; null: the name announces none. */
export function secretNamed(name: string): NamedSecret | null {
  const known = ANSWERS.get(name);
  if (known !== undefined) return known;
  const answer = readName(name);
  if (ANSWERS.size < ANSWERS_MAX) ANSWERS.set(name, answer);
  return answer;
}

function readName(name: string): NamedSecret | null {
  const all = wordsOf(name);
  const trimmed = [...all];
  while (trimmed.length > 1 && names.VALUE_WORDS.has(trimmed.at(-1)!)) trimmed.pop();
  const last = singular((trimmed.at(-1) ?? "").replace(/(?<=\D{3})\d{1,2}$/, ""));
  const before = trimmed.slice(0, -1);
  const password = passwordNamed(last, before);
  if (password !== null) return password;
  if (all.some((word) => names.PUBLIC_WORDS.has(word)) && !all.includes("private")) return null;
  return (
    phraseNamed(trimmed) ??
    phraseNamed([...before, last]) ??
    keyNamed(last, before) ??
    passwordOfOwner(trimmed)
  );
}

function passwordNamed(last: string, before: readonly string[]): NamedSecret | null {
  if (PASSWORD_STEMS.has(last) || PASSWORD_AT_END.test(last)) return PASSWORD;
  const owner = before.at(-1);
  const joined = `${owner ?? ""}${last}`;
  if (PASSWORD_STEMS.has(joined)) return PASSWORD;
  if (AMBIGUOUS_PASSWORDS.has(last) || AMBIGUOUS_PASSWORDS.has(joined)) {
    return { set: "passwords", form: "strong" };
  }
  if (SHORT_PASSWORDS.has(last)) return shortPassword(last, owner);
  if (last === "credential" || last === "cred") return { set: "passwords", form: "random" };
  return isShortCompound(last) ? PASSWORD : pinNamed(last, before);
}

function shortPassword(last: string, owner: string | undefined): NamedSecret | null {
  if (last !== "pass" || (owner !== undefined && PASSWORD_OWNERS.has(owner))) return PASSWORD;
  if (owner === undefined) return { set: "passwords", form: "pass" };
  return OTHER_PASSES.has(owner) ? null : { set: "passwords", form: "strong" };
}

/** `dbpass`, `smtppw`. */
function isShortCompound(word: string): boolean {
  const owner = /^(.{2,12}?)(?:pass|pw|psw)$/.exec(word)?.[1];
  return owner !== undefined && PASSWORD_OWNERS.has(owner);
}

function pinNamed(last: string, before: readonly string[]): NamedSecret | null {
  const isPin = names.PIN_WORDS.has(last);
  if (isPin && !before.some((word) => names.OTHER_PINS.has(word))) {
    return { set: "passwords", form: "digits" };
  }
  const joined = last === "code" ? `${before.at(-1) ?? ""}code` : last;
  if (!names.PIN_OR_POSTAL.has(joined)) return null;
  return { set: "passwords", form: "short digits" };
}

/** The last words, written together, are the name of a secret. */
function phraseNamed(name: readonly string[]): NamedSecret | null {
  for (let count = Math.min(PHRASE_WORDS_MAX, name.length); count > 0; count -= 1) {
    const phrase = name.slice(-count).join("");
    const found = ofPhrase(phrase, name.slice(0, -count));
    if (found !== null) return found;
  }
  return null;
}

function ofPhrase(phrase: string, before: readonly string[]): NamedSecret | null {
  if (PASSWORD_STEMS.has(phrase)) return PASSWORD;
  if (names.ANSWER_PHRASES.has(phrase)) return { set: "tokens", form: "password" };
  if (names.CARD_PHRASES.has(phrase)) {
    const isOther = before.some((word) => names.OTHER_CARDS.has(word));
    return isOther ? null : { set: "cards", form: "card" };
  }
  if (names.CVV_PHRASES.has(phrase)) return { set: "cards", form: "cvv" };
  if (names.CODE_PHRASES.has(phrase)) return { set: "tokens", form: "code" };
  if (names.HEADER_PHRASES.has(phrase)) return { set: "tokens", form: "header" };
  if (names.SECRET_PHRASES.has(phrase)) return { set: "tokens", form: "secret" };
  if (names.KEY_PHRASES.has(phrase)) return { set: "keys", form: "random" };
  if (before.length === 0 && names.SHORT_NAMES.has(phrase)) return { set: "tokens", form: "long" };
  if (!names.TOKEN_PHRASES.has(phrase) && !isTokenCompound(phrase)) return null;
  const isHarmless = before.some((word) => names.HARMLESS_TOKENS.has(word));
  return isHarmless ? null : { set: "tokens", form: "random" };
}

/** `zugriffstoken`, `clientsecret`, written without a boundary. */
function isTokenCompound(phrase: string): boolean {
  return /^(?:access|refresh|auth|api|bot|session|oauth|zugriffs|zugangs|user)\w{0,12}token$/.test(
    phrase,
  );
}

function keyNamed(last: string, before: readonly string[]): NamedSecret | null {
  if (last !== "key") return null;
  const owner = before.at(-1);
  if (owner === undefined) return null;
  if (names.KEY_OWNERS.has(owner)) return { set: "keys", form: "random" };
  return names.OWNERS_OF_LONG_KEYS.has(owner) ? { set: "keys", form: "bytes" } : null;
}

/** `contraseña_usuario`, `mot_de_passe_de_la_base`: the owner stands behind the password. */
function passwordOfOwner(words: readonly string[]): NamedSecret | null {
  for (let end = words.length - 1; end >= words.length - OWNERS_BEHIND_MAX; end -= 1) {
    if (end < 1 || !OWNERS_BEHIND.has(words[end]!)) return null;
    const named = passwordNamed(words[end - 1]!, words.slice(0, end - 1));
    const phrase = words.slice(Math.max(0, end - 3), end).join("");
    if (named?.form === "password" || PASSWORD_STEMS.has(phrase)) return PASSWORD;
  }
  return null;
}

function endsCompounds(stem: string): boolean {
  return stem.length >= STEM_LENGTH_MIN || /[^\p{sc=Latin}]/u.test(stem);
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}
