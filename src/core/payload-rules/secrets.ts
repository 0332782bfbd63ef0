/** Secrets of a text: those of known shape, and those that stand behind a telling name. */
import { hasCard } from "./cards.ts";
import { secretInField, type Secret } from "./fields.ts";
import { secretNamed } from "./names.ts";
import { secretInLink } from "./links.ts";
import { inSequence } from "./patterns.ts";
import { secretAssigned } from "./texts/assignments.ts";
import { secretInCommand } from "./texts/commands.ts";
import { secretInColumns, secretInserted } from "./texts/grids.ts";
import { secretSaid } from "./texts/prose.ts";
import { secretShape } from "./tokens.ts";
import { isPlaceholder, isRandom, isTemplate } from "./values.ts";

/** `user:password@` in an address, where the password is not left out. */
const USER_INFO = inSequence(
  "i",
  /\b[a-z][a-z0-9+.-]{1,30}:\/\//,
  /([^\s/?#@:"'<>]{0,200}):([^\s/?#@"'<>]{1,300})@[\w[\]-]/,
);
/** A password with a sign that should have been encoded, as people write it. */
const LOOSE_USER_INFO = /\b[a-z][a-z0-9+.-]{1,30}:\/\/[\w.%+-]{1,80}:([^\s/"'<>]{1,100})@[\w-]/i;
const USER_ONLY = /\bhttps?:\/\/([\w.-]{16,200})@[\w-]{1,63}\./i;
/** A parameter in the query or in the fragment of an address. */
const PARAMETER = /[?&#;]([\w.%-]{2,60})=([^\s"'&#;<>]{3,2000})/g;
const SIGNED_QUERY =
  /[?&](?:X-Amz-Signature|X-Goog-Signature|Signature|sig|hmac)=[A-Za-z0-9%+/=_-]{20,1000}/i;
const OAUTH_CALLBACK =
  /[?&]code=[\w%./-]{16,1000}&(?:\S{0,300}&)?state=|[?&]state=[^\s&]{1,300}&code=[\w%./-]{16}/;

/** A shorter text is taken for a secret by the name of its field alone. */
const SECRET_TEXT_MIN = 8;

/** The secret in a text, of any field; null: none. */
export function secretInText(text: string, name: string): Secret | null {
  if (text.length < SECRET_TEXT_MIN) return null;
  const found = secretOfShape(text, name);
  if (found !== null) return found;
  return secretOfWords(text);
}

function secretOfShape(text: string, name: string): Secret | null {
  const shape = secretShape(text);
  if (shape !== null) return { set: shape.set, what: shape.what };
  const address = text.includes("://") ? secretInAddress(text) : null;
  if (address !== null) return address;
  return hasCard(text, name) ? { set: "cards", what: "the number of a payment card" } : null;
}

/** An id or one word: settings, commands, tables and sentences have other signs. */
const ONE_WORD = /^[\w-]+$/;

function secretOfWords(text: string): Secret | null {
  if (ONE_WORD.test(text) || isPlaceholder(text)) return null;
  return (
    secretAssigned(text) ??
    secretInCommand(text) ??
    secretInColumns(text) ??
    secretInserted(text) ??
    secretSaid(text)
  );
}

function secretInAddress(text: string): Secret | null {
  const password = USER_INFO.exec(text)?.[2] ?? LOOSE_USER_INFO.exec(text)?.[1];
  if (password !== undefined && !isPlaceholder(password) && !isTemplate(password)) {
    return { set: "passwords", what: "an address with a user and a password" };
  }
  const user = USER_ONLY.exec(text)?.[1];
  if (user !== undefined && isRandom(user)) {
    return { set: "tokens", what: "an address with a token in place of a user" };
  }
  if (SIGNED_QUERY.test(text)) return { set: "tokens", what: "a signed address" };
  if (OAUTH_CALLBACK.test(text)) return { set: "tokens", what: "the code of an authorization" };
  return secretInQuery(text) ?? secretInLink(text);
}

function secretInQuery(text: string): Secret | null {
  for (const [, name = "", value = ""] of text.matchAll(PARAMETER)) {
    const named = secretNamed(name);
    const found = isTemplate(value) ? null : secretInField(named, value);
    const isWord = /^[A-Z]?[a-z]+$|^[A-Z]+$/.test(value) && named?.form !== "password";
    if (found !== null && !isWord) return found;
  }
  return null;
}
