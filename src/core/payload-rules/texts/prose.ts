/** Secrets in sentences: `the password is Sommer2024`, `Ihr Code lautet 448 210`. */
import type { Secret } from "../fields.ts";
import {
  ABOUT_ACCOUNT,
  CODE_NOUNS,
  COMPOUND_NOUNS,
  IS,
  KEPT_SECRET,
  OF_A_PERSON,
  OTHER_CODES,
  PASSWORD_NOUNS,
  SECRET_NOUNS,
  TO,
} from "../tables/prose-words.ts";
import { anyOf, inSequence } from "../patterns.ts";
import {
  hasDigit,
  isDate,
  isDistinct,
  isLongSecret,
  isMadeUp,
  isMixture,
  isPlaceholder,
  isSeedPhrase,
  isStrong,
  isTemplate,
  kindsOf,
} from "../values.ts";

/** Texts are cut at the nouns, so that each is compared with the few words behind it. */
const NOUN = new RegExp(
  `(?<!\\p{L})(?:(${PASSWORD_NOUNS.join("|")})|${SECRET_NOUNS.join("|")})|` +
    `(${COMPOUND_NOUNS.join("|")})`,
  "giu",
);
const SAID = new RegExp(
  `^["'”]?(?:[ \\t(]{1,2}[\\p{L}\\p{N}'’./@_-]{1,40}\\)?,?){0,5}?\\s{0,2}` +
    `(?:(?:${IS.join("|")})|(${TO.join("|")}))(?:\\s{1,3}|(?<=[:：=は是为])\\s{0,3})` +
    `["'\`“„«(*]{0,2}([^\\s"'\`”“»]{4,80})`,
  "iu",
);
/** `password for the portal Tulip!77x`. */
const BARE = /^(?:\s\p{L}{1,12}){0,3}\s([^\s"'`]{8,60})/u;
const ABOUT_LOGIN = /\blog ?(?:in|on)\b|\bpassword|passwort|kennwort/i;
const BEHIND_LENGTH = 220;
const NOUN_OF_CODE = new RegExp(
  `(?:验证码|驗證碼|認証コード|(?:codes?|(?<!\\p{L})(?:${CODE_NOUNS.join("|")}))(?!\\p{L}))`,
  "giu",
);
const CODE_SAID = new RegExp(
  `^(?:\\s[\\p{L}'’-]{1,20}){0,4}?\\s{0,2}(?:${[...IS, ...TO].join("|")})\\s{0,3}` +
    `["'*]{0,2}((?:[A-Z]{1,2}-)?\\d{2,4}[ -]?\\d{2,4})(?![\\p{L}\\d/:]|[.,-]\\d)`,
  "iu",
);
/** `482913 is your login code`, `G-482913 is your verification code`. */
const CODE_FIRST = inSequence(
  "i",
  /(?<![\w.,-])(?:[A-Z]-)?(\d{3,4}[ -]?\d{2,4}) (?:is|ist|est|es|è|é) /,
  /(?:your|the|ihr|dein|votre|tu|su|il tuo|seu) (?:[\w-]{1,20} ){0,4}(?:code|otp|pin|tan|código)/,
);
/** `I set it to Hummel!Wiese9`, `use Hummel!Wiese9 to log in`. */
const SET_TO = inSequence(
  "gi",
  /\b/,
  anyOf(
    /((?:re)?set|changed|changing|updated|switched) (?:\w{1,12} ){0,4}to/,
    /use|using|with|try|enter|type|auf|mit|avec|con|com|usa|utilise|nimm|verwende/,
  ),
  /\s["'`“„«]{0,1}([^\s"'`”“»]{8,80})/,
);
/** What a person writes about an account: `log in with bob / Sommer2024`. */
const LOGIN = inSequence(
  "i",
  /\b(?:log ?in|log ?on|credentials?|creds|sign ?in|account|zugang(?:sdaten)?|acceso)\b/,
  /[^.\n/]{0,40}?[\w.@+-]{2,60} ?[/:|] ?([^\s"'/]{6,60})/,
);
const PASSWORD: Secret = { set: "passwords", what: "a password in a text" };
/** A sentence has blanks. */
const SENTENCE_MIN = 8;

/** The secret that a sentence tells; null: none. */
export function secretSaid(text: string): Secret | null {
  if (text.length < SENTENCE_MIN || !/\s|[：は是为]/.test(text)) return null;
  if (isSeedPhrase(text.trim())) return { set: "keys", what: "a seed phrase" };
  if (hasPassword(text) || hasLogin(text)) return PASSWORD;
  return hasCode(text) ? { set: "passwords", what: "a code in a text" } : null;
}

function hasPassword(text: string): boolean {
  for (const { 0: noun, 1: alone, 2: compound, index } of text.matchAll(NOUN)) {
    const from = index + noun.length;
    const [, to, value] = SAID.exec(text.slice(from, from + BEHIND_LENGTH)) ?? [];
    const isOfPassword = (alone ?? compound) !== undefined;
    if (isOfPassword && isStrong(BARE.exec(text.slice(from, from + 120))?.[1] ?? "", 4))
      return true;
    if (value === undefined || !isSaid(value)) continue;
    if (to === undefined ? isOfPassword || isLongSecret(value) : isMadeUp(trimmed(value)))
      return true;
  }
  if (!ABOUT_ACCOUNT.test(text)) return false;
  return [...text.matchAll(SET_TO)].some(([, set, value = ""]) => {
    if (isDistinct(trimmed(value))) return true;
    return set !== undefined && ABOUT_LOGIN.test(text) && isMadeUp(trimmed(value));
  });
}

/** A word of a language is no password: `the password is wrong`. */
function isSaid(value: string): boolean {
  const said = trimmed(value);
  if (isAddress(said)) return false;
  if (said.length < 4 || isDate(said) || !isPlain(said) || /^\d+%?$|^\d+[a-z]{1,7}$/.test(said)) {
    return /^\d{4,8}$/.test(said);
  }
  return (hasDigit(said) && kindsOf(said) >= 2) || kindsOf(said.replaceAll(/[-'’]/g, "")) >= 3;
}

function isAddress(text: string): boolean {
  return /^[^@\s]+@[\w-]+\.|^(?:www\.|https?:)|^[\w-]+(?:\.[\w-]+){1,4}$/i.test(text);
}

function hasLogin(text: string): boolean {
  const login = trimmed(LOGIN.exec(text)?.[1] ?? "");
  return login.length >= 6 && kindsOf(login) >= 3 && isMixture(login) && isPlain(login);
}

function hasCode(text: string): boolean {
  if (CODE_FIRST.test(text)) return true;
  for (const { 0: noun, index } of text.matchAll(NOUN_OF_CODE)) {
    const before = text.slice(Math.max(0, index - 40), index);
    const from = index + noun.length;
    const behind = text.slice(from, from + BEHIND_LENGTH);
    if (!CODE_SAID.test(behind)) continue;
    if (KEPT_SECRET.test(behind)) return true;
    if (OTHER_CODES.test(before)) continue;
    if (OF_A_PERSON.test(`${before}${noun} ${behind.slice(0, 120)}`)) return true;
  }
  return false;
}

function trimmed(value: string): string {
  return value.replace(/[.,;:!?)*。，、]{1,9}$/, "");
}

function isPlain(text: string): boolean {
  return !isPlaceholder(text) && !isTemplate(text);
}
