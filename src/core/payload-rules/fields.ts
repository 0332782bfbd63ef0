/** The secret that a field is named after, if its value looks like one. */
import { looksLikeCard } from "./cards.ts";
import type { NamedSecret } from "./names.ts";
import type { SensitiveSet } from "./rule.ts";
import { isEncodedLogin } from "./tokens.ts";
import {
  isAbout,
  isChosenSecret,
  isDistinct,
  isKeyBytes,
  isLongSecret,
  isMadeUp,
  isMixture,
  isPlaceholder,
  isRandom,
  isSeedPhrase,
  isStrong,
} from "./values.ts";

/** What was found. The text never contains the value. */
export interface Secret {
  readonly set: SensitiveSet;
  readonly what: string;
}

/** A code, such as `481-220`, `7193#` or `K7QX-2M9P`. */
const CODE = /^(?=.{0,20}\d)[#*]?[\w-]{4,40}[#*]?$/;
const GROUPED_CODE = /^[a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){1,7}$/i;
const PIN = /^[#*]?\d(?:[ -]?\d){3,7}[#*]?$/;
const CODES_MAX = 100;
const SCHEME = /^(?:basic|token|digest|apikey|negotiate|ntlm|aws4|ssws|key|hawk|bot|splunk|genie)/i;

export function secretInField(named: NamedSecret | null, value: string | number): Secret | null {
  if (named === null) return null;
  const text = String(value).trim();
  if (!isSecretOf(named.form, text, typeof value === "number")) return null;
  return { set: named.set, what: `a value named like one of ${named.set}` };
}

function isSecretOf(form: NamedSecret["form"], text: string, isNumber: boolean): boolean {
  if (isPlaceholder(text)) return false;
  if (form === "digits") return PIN.test(text);
  if (form === "short digits") return /^\d{4,5}$/.test(text);
  if (form === "cvv") return /^\d{3,4}$/.test(text);
  if (form === "part") return true;
  if (form === "card") return looksLikeCard(text);
  if (form === "code") return hasCode(text);
  return isNumber && form !== "password" ? false : isSecretText(form, text);
}

/** One code, or a list of codes in one text. */
function hasCode(text: string): boolean {
  const codes = text.split(/[\s,;|]+/, CODES_MAX);
  if (PIN.test(text)) return true;
  return codes.some((code) => CODE.test(code) || GROUPED_CODE.test(code) || isRandom(code));
}

function isSecretText(form: NamedSecret["form"], text: string): boolean {
  if (isAbout(text)) return false;
  if (form === "password") return text.length >= 2;
  if (form === "header") return isHeader(text);
  if (form === "pass") return text.length >= 5 && isMixture(text);
  if (form === "strong") return isStrong(text);
  if (form === "made up") return isMadeUp(text);
  if (form === "distinct") return isDistinct(text);
  if (form === "bytes") return isKeyBytes(text);
  if (form === "long") return isLongSecret(text);
  if (form === "secret") return isChosenSecret(text);
  return isRandom(text) || isSeedPhrase(text);
}

function isHeader(text: string): boolean {
  const [scheme = "", credentials] = text.split(/\s+/, 2);
  if (credentials !== undefined && SCHEME.test(scheme)) return credentials.length >= 8;
  if (isEncodedLogin(text) || /^[^\s:/]{1,60}:[^\s/]{6,200}$/.test(text)) return true;
  const cookie = /=([^;\s]{12,4000})/.exec(text)?.[1];
  return isRandom(cookie ?? text) && (cookie ?? text).length >= 12;
}
