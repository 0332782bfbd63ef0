/** What the fields of one object say about each other. */
import type { Json } from "../payload.ts";
import { partsOfCard } from "./cards.ts";
import { secretNamed, type NamedSecret } from "./names.ts";
import { anyOf, inSequence } from "./patterns.ts";
import { METADATA } from "./places.ts";
import { wordSet, wordsOf } from "./words.ts";

export type JsonObject = { readonly [key: string]: Json | undefined };

/** What a field is, by the fields beside it. */
interface Told {
  readonly name?: string | undefined;
  readonly named?: NamedSecret | undefined;
}

/** Names of the two halves of a pair such as `{ name: "API_KEY", value: "…" }`. */
const PAIR_NAMES = wordSet(
  "name key field header variable k id property label type title param parameter setting option",
  "attribute column",
);
const PAIR_VALUES = wordSet("value val content v data text default stringvalue answer");
/** What a record of a change says of the field that it names. */
const CHANGED_NAMES = wordSet("field property attribute column setting");
const CHANGED_VALUES = wordSet("new old from to before after current previous newvalue oldvalue");
/** Algorithms that have a secret key. */
const SECRET_ALGORITHM = inSequence(
  "i",
  /\b/,
  anyOf(
    /x?chacha|salsa|hmac|blowfish|twofish|camellia|fernet|secretbox/,
    /(?:aes|3?des|gcm|cbc|ctr)\b|aes\d|HS(?:256|384|512)|A(?:128|192|256)/,
  ),
);
const ALGORITHM_FIELDS = wordSet("algorithm algo alg cipher mode method enc encryption type");
const KEYS_OF_ALGORITHM = wordSet("key keyhex keybase64 keyb64 keydata keybytes");

/** Flags that call the value beside them a secret, as in the outputs of Terraform. */
const SECRECY_FLAGS = wordSet("sensitive issensitive secret issecret secure confidential");
/** The private parts of a JSON Web Key. */
const PRIVATE_PARTS = wordSet("d k p q dp dq qi");
const OAUTH_FIELDS = wordSet("granttype redirecturi codeverifier");
export const LOGIN_OBJECTS: ReadonlySet<string> = wordSet(
  "login auth authentication credentials credential creds cred signin",
);
const USER_FIELDS = wordSet(
  "user username usr login uid userid benutzer benutzername usuario utilisateur utente gebruiker",
  "uzytkownik логин пользователь ユーザー 用户名 account anvandare bruker",
);
const ASKED = wordSet("securityquestion secretquestion recoveryquestion securityquestions kba");
/** Cookies of counters and of settings. */
const PLAIN_COOKIE =
  /^(?:_ga|_gid|_gat|_fbp|utm|lang|locale|theme|consent|cookie|tz|currency|ab_)/i;

const PASSWORD: NamedSecret = { set: "passwords", form: "password" };
export const MADE_UP: NamedSecret = { set: "passwords", form: "made up" };
const DISTINCT: NamedSecret = { set: "passwords", form: "distinct" };
const KEY: NamedSecret = { set: "keys", form: "random" };
const CODE: NamedSecret = { set: "tokens", form: "random" };
const KEY_BYTES: NamedSecret = { set: "keys", form: "bytes" };
const PART_OF_CARD: NamedSecret = { set: "cards", form: "part" };
const COOKIE: NamedSecret = { set: "tokens", form: "header" };

/** Tells for each field of an object what the others say about it. `outer` names the object. */
export function siblingsOf(
  object: JsonObject,
  keys: readonly string[],
  outer: string,
): (key: string) => Told {
  const joined = keys.map((key) => wordsOf(key).join(""));
  const has = (names: ReadonlySet<string>): boolean => joined.some((name) => names.has(name));
  const around = wordsOf(outer).join("");
  const pair = pairIn(object, keys);
  const isSecret = keys.some((key, at) => SECRECY_FLAGS.has(joined[at]!) && object[key] === true);
  const isAsked = has(ASKED) || ASKED.has(around);
  const isCookie = /cookies?$|cookiejar$/.test(around);
  const unnamed = LOGIN_OBJECTS.has(around) ? MADE_UP : has(USER_FIELDS) ? DISTINCT : undefined;
  const isOauth = has(OAUTH_FIELDS);
  const isKeyed = keys.some(
    (key, at) => ALGORITHM_FIELDS.has(joined[at]!) && SECRET_ALGORITHM.test(textOf(object[key])),
  );
  const parts = new Set(partsOfCard(object, keys, outer));
  return (key) => {
    const name = key.toLowerCase();
    if (parts.has(key)) return { name: "", named: PART_OF_CARD };
    if (isKeyed && KEYS_OF_ALGORITHM.has(wordsOf(key).join(""))) return { named: KEY_BYTES };
    if (pair?.at.has(key) === true) {
      const own = secretNamed(pair.name) ?? (isSecret ? PASSWORD : undefined);
      const isPlain = !isCookie || PLAIN_COOKIE.test(pair.name);
      return { name: pair.name, named: own ?? (isPlain ? undefined : COOKIE) };
    }
    if (isSecret && PAIR_VALUES.has(name)) return { named: PASSWORD };
    if (typeof object["kty"] === "string" && PRIVATE_PARTS.has(name)) return { named: KEY };
    if (isOauth && name === "code") return { named: CODE };
    if (isAsked && name === "answer") return { named: PASSWORD };
    if (object["kind"] === "Secret" && /^(?:string)?data$/.test(name)) return { name: "secrets" };
    if (isCookie && pair === null && !PLAIN_COOKIE.test(key)) return { named: COOKIE };
    const isMeta = unnamed === undefined || METADATA.has(wordsOf(key).at(-1) ?? "");
    return isMeta ? {} : { named: unnamed };
  };
}

/** The field of a pair that holds the value, and the name that the other field gives it. */
function pairIn(
  object: JsonObject,
  keys: readonly string[],
): { readonly at: ReadonlySet<string>; readonly name: string } | null {
  const value = keys.find((key) => PAIR_VALUES.has(key.toLowerCase()));
  const isPatch = "op" in object;
  const names = keys.filter((key) => {
    const name = key.toLowerCase();
    return key !== value && (PAIR_NAMES.has(name) || (isPatch && name === "path"));
  });
  const by = names.find((key) => secretNamed(textOf(object[key])) !== null) ?? names[0];
  const name = by === undefined ? undefined : object[by];
  // Node.js writes the bytes of a buffer so.
  if (typeof name !== "string" || name === "Buffer") return null;
  if (value !== undefined) return { at: new Set([value]), name };
  if (!CHANGED_NAMES.has(by!.toLowerCase())) return null;
  return { at: new Set(keys.filter((key) => CHANGED_VALUES.has(wordsOf(key).join("")))), name };
}

const COLUMNS = wordSet("columns headers header fields columnnames cols");
const ROWS = wordSet("rows data values records items");
const COLUMNS_MAX = 200;

/** The names of the columns of a table, and the field with its rows; null: no table. */
export function tableIn(
  object: JsonObject,
  keys: readonly string[],
): { readonly at: string; readonly columns: readonly string[] } | null {
  const by = keys.find((key) => COLUMNS.has(key.toLowerCase()));
  const at = keys.find((key) => ROWS.has(key.toLowerCase()));
  const columns = by === undefined ? null : columnsOf(object[by]);
  return at === undefined || columns === null ? null : { at, columns };
}

/** The texts of a first row, of which one names a secret. */
export function columnsOf(row: Json | undefined): readonly string[] | null {
  if (!Array.isArray(row) || row.length > COLUMNS_MAX) return null;
  const columns = row.map((cell: Json) => (typeof cell === "string" ? cell : nameIn(cell)));
  return columns.some((name) => secretNamed(name) !== null) ? columns : null;
}

function nameIn(cell: Json): string {
  return typeof cell === "object" && cell !== null && "name" in cell ? textOf(cell["name"]) : "";
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
