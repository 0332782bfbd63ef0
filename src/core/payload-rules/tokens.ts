/**
 * Secrets that can be told by their shape: tokens of known providers, JSON Web Tokens, private
 * keys, hashes of passwords, headers of authentication. Every expression is linear: no repetition
 * inside a repetition, and each begins with a fixed text or at a boundary.
 */
import { anyOf, inSequence } from "./patterns.ts";
import type { SensitiveSet } from "./rule.ts";
import { PROVIDER_TOKENS } from "./tables/providers.ts";
import { isRandom } from "./values.ts";

interface Shape {
  readonly set: SensitiveSet;
  readonly what: string;
  readonly shape: RegExp;
}

/**
 * Texts without blanks that are long enough for a token. The many shapes of providers are compared
 * at the beginnings of such texts alone, so that prose costs nothing.
 */
const CANDIDATE = /(?<![A-Za-z0-9_])[A-Za-z0-9][\w.~+/|$!%:,-]{15,}/g;
/** Where a token may begin within such a text: behind the sign of an assignment or of a path. */
const BEGINNING = /[/:=,|+%-]/;
const BEGINNINGS_MAX = 400;
const PROVIDER_TOKEN = new RegExp(PROVIDER_TOKENS.map((token) => `(?:${token})`).join("|"), "y");

/** The keys of language models have one prefix, and words may begin with it. */
const MODEL_KEY =
  /(?<![A-Za-z0-9_-])sk-(?=[\w-]{0,255}\d)(?=[\w-]{0,255}[A-Z])[A-Za-z0-9_-]{20,255}/;

const PRIVATE_KEY = "a private key";
const SHAPES: readonly Shape[] = [
  {
    set: "keys",
    what: PRIVATE_KEY,
    shape: anyOf(
      /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/,
      // The same in base64, as in the configuration of a cluster.
      /LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,30}(?:UFJJVkFU|BSSVZBV|QUklWQVR)/,
      /PuTTY-User-Key-File-\d|Private-Lines: \d|b3BlbnNzaC1rZXktdjE/,
      /"d"\s{0,4}:\s{0,4}"[\w-]{40,600}"/,
      /"kty"\s{0,4}:\s{0,4}"oct"[^{}]{0,400}"k"\s{0,4}:/,
      /"k"\s{0,4}:[^{}]{0,400}"kty"[\s:]{1,8}"oct"/,
    ),
  },
  // DER in base64 without the lines around it: a sequence that begins with the version of PKCS #1,
  // PKCS #8, SEC 1 or PKCS #12, or with the algorithm of an encrypted key.
  {
    set: "keys",
    what: PRIVATE_KEY,
    shape: anyOf(
      /MII[\w+/]{2}[AQgw]IBA(?:AKC|AKB|DAN|DAL|DCC|zCC|zAN)|MI[IG][\w+/]{2,6}BgkqhkiG9w0BBQ/,
      /MI[GH][\w+/]AgE[AB](?:MB|MA|BD|BE)|MHcCAQEEI|MC4CAQAwBQYDK2V[uw]|M[DEG][\w+/]CAQAw[BE]/,
      /3082[0-9a-f]{4}020100(?:0282|0281|300d06)|302e020100300506032b65/i,
    ),
  },
  {
    set: "keys",
    what: "a recovery key",
    shape: /(?<![\d-])(?:\d{6}-){7}\d{6}(?![\d-])|otpauth:\/\/[ht]otp\/[^\s]{0,300}secret=/,
  },
  {
    set: "tokens",
    what: "a JSON Web Token",
    shape: anyOf(
      /(?<![A-Za-z0-9_-])eyJ[\w-]{8,4000}\.[\w-]{8,8000}\.[\w-]{0,4000}/,
      /(?<![A-Za-z0-9_-])eyJ[\w-]{8,4000}\.\.[\w-]{8,4000}/,
      /v[1-4]\.(?:local|public)\.[\w-]{30,4000}/,
    ),
  },
  { set: "tokens", what: "a token of a known provider", shape: MODEL_KEY },
  {
    set: "tokens",
    what: "a token of a known provider",
    shape: anyOf(
      /(?<!\d)\d{8,10}:AA[\w-]{30,40}/,
      /\bFlyV1 [\w,=+/-]{20,255}|\bSSWS [\w-]{20,80}|\boauth:[a-z0-9]{30}(?![a-z0-9])/,
      /\bPRIVATE-TOKEN[=: ]{1,4}[\w-]{16,80}|\bGenieKey [\w-]{30,80}|\bSplunk [\w-]{30,80}/,
      /https?:\/\/[0-9a-f]{32}:[0-9a-f]{32}@/,
    ),
  },
  {
    set: "tokens",
    what: "a bearer token",
    shape: /\bBearer:?\s{1,4}(?=[\w.~+/=-]{0,200}\d)[\w.~+/=-]{12,4000}/i,
  },
  {
    set: "tokens",
    what: "a webhook address with its secret",
    shape: anyOf(
      /hooks\.slack\.com\/(?:services|workflows|triggers)\/T[A-Z0-9]{4,20}\//,
      /discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{8,24}\/[\w-]{20}/,
      /api\.telegram\.org\/bot\d{6,12}:/,
      /(?:outlook\.office|[\w-]{1,40}\.webhook\.office)\.com\/webhook/,
      /chat\.googleapis\.com\/v1\/spaces\/[^\s]{1,100}key=|hooks\.zapier\.com\/hooks\/catch\/\d/,
      /calendar\.google\.com\/calendar\/ical\/[^\s]{1,200}\/private-[0-9a-f]{20}/,
    ),
  },
  {
    set: "passwords",
    what: "the hash of a password",
    shape: anyOf(
      /\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}/,
      /\$argon2(?:id|i|d)\$v=|\$scrypt\$|\$apr1\$|scrypt:\d{3,6}:\d{1,2}:\d{1,2}\$|\$y\$j/,
      /\$[1567]\$[^\s$]{1,60}\$[./A-Za-z0-9]{20}|\$(?:P|H)\$[./A-Za-z0-9]{31}/,
      /pbkdf2[_:-]?sha\d{1,3}[$:]|\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{20}|SCRAM-SHA-256\$\d/,
      /:[0-9a-f]{32}:[0-9a-f]{32}:::/,
    ),
  },
  {
    set: "passwords",
    what: "the password of a network",
    shape: /\bWIFI:(?:[TSH]:[^;\n]{0,63};){0,3}P:[^;\n]{4,63};/,
  },
  {
    set: "passwords",
    what: "an address with a user and a password",
    shape: /(?<![\w.-])[\w.-]{1,60}:(?![$<{*])[^\s@:/"']{3,100}@(?:tcp|unix)\(/,
  },
];

/** The user and the password of basic authentication. */
const BASIC = /\bBasic\s{1,4}([A-Za-z0-9+/]{8,400}={0,2})/i;
const ENCODED = /^[A-Za-z0-9+/]{8,400}={0,2}$/;
const USER_AND_PASSWORD = /^[^\s:]{1,80}:[\x20-\x7E]{3,200}$/;

/** A header of authentication with any scheme: `Authorization: Token x`. */
const AUTHORIZATION = inSequence(
  "gi",
  /\bAuthorization["']?[ \t]{0,2}[:=][ \t]{0,2}["']?[a-z][\w-]{1,30}[ \t]{1,4}/,
  /(?=[^\s"']{0,400}\d)([^\s"'<>${},;()[\]]{12,4000})/,
);

/** What a text contains by its shape; null: no known secret. */
export function secretShape(text: string): Pick<Shape, "set" | "what"> | null {
  for (const shape of SHAPES) if (shape.shape.test(text)) return shape;
  if (hasProviderToken(text)) return { set: "tokens", what: "a token of a known provider" };
  const basic = BASIC.exec(text)?.[1];
  if (basic !== undefined && isEncodedLogin(basic)) {
    return { set: "passwords", what: "a user and a password of basic authentication" };
  }
  for (const [, credentials = ""] of text.matchAll(AUTHORIZATION)) {
    if (isRandom(credentials)) return { set: "tokens", what: "a header of authentication" };
  }
  return null;
}

function hasProviderToken(text: string): boolean {
  for (const { 0: candidate, index } of text.matchAll(CANDIDATE)) {
    const end = Math.min(index + candidate.length, index + BEGINNINGS_MAX);
    for (let at = index; at < end; at += 1) {
      if (at > index && !BEGINNING.test(text[at - 1]!)) continue;
      PROVIDER_TOKEN.lastIndex = at;
      if (PROVIDER_TOKEN.test(text)) return true;
    }
  }
  return false;
}

/** Whether a text is `user:password` in base64. */
export function isEncodedLogin(text: string): boolean {
  if (!ENCODED.test(text)) return false;
  try {
    return USER_AND_PASSWORD.test(atob(text));
  } catch {
    return false;
  }
}
