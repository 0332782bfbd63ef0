/** What the value of a secret looks like, and what stands in its place. */

/** References to secrets, and what stands in place of one. */
const PLACEHOLDER = new RegExp(
  `^(?:${[
    "[*x•.#_-]{1,200}",
    "[*•]{2,40}.{0,4}",
    "\\$\\{.{0,200}\\}?",
    "\\$[A-Z_][A-Z0-9_]{1,100}",
    "\\$\\([^)]{0,200}\\)?",
    "\\{\\{.{0,200}\\}\\}",
    "\\{[a-z][\\w.]{0,60}\\}",
    "%\\(?\\w{0,100}\\)?[%s]",
    "<[^>=]{0,200}>",
    "\\[[^\\]]{0,200}\\]",
    "#\\{.{0,200}\\}",
    "@Microsoft\\.KeyVault.{0,300}",
    "(?:vault|op|ssm|secrets?|env|ref|keyvault|sm|aws-sm|gcp-sm|awssm|kv|file|sops|doppler|bws|" +
      "asm|azurekv|keychain|1password|lastpass|bitwarden|" +
      "infisical|secretsmanager|parameterstore)" +
      "(?:://|:).{0,400}",
    "\\{?(?:cipher|vault|secret|env)\\}.{0,300}",
    "arn:[\\w-]{2,20}:.{0,400}",
    "ocid1\\..{0,300}",
    "projects/[^/]{1,100}/secrets/.{0,300}",
    "secret/data/.{0,300}",
    "kv/.{0,300}",
    "(?:process\\.|import\\.meta\\.)?env[.[].{0,200}",
    "(?:os\\.(?:environ|getenv)|getenv|System\\.getenv|ENV\\[|var\\.|local\\.|data\\.).{0,200}",
    "(?:~|\\.{1,2}|[A-Z]:)?[/\\\\](?:[\\w.-]{1,60}[/\\\\]){1,20}[\\w.-]{0,100}",
    "/(?:run/secrets|etc|var|opt|home|secrets)/.{0,300}",
    "https?://[^\\s?#@]{1,300}",
    "(?:tok|pm|cus|ch|pi|src|card|sub|in|evt|price|prod|seti|ba|acct|re|po|tr)_[A-Za-z0-9]{2,60}",
  ].join("|")})$`,
  "iu",
);

/** What stands in fields about a password that hold no password. */
const STATE_WORD = new RegExp(
  `^(?:${[
    "required|missing|invalid|expired|changed|reset|unchanged|hidden|none|null|undefined|true",
    "false|yes|no|set|unset|not[ _-]set|weak|strong",
    "medium|ok|empty|masked|redacted|enabled|disabled",
    "pending|active|inactive|revoked|valid|unknown|optional|default|n/a|basic|bearer|digest",
    "oauth2?|mfa|sso|saml|oidc|email|sms|approved",
    "declined|denied|granted|used|unused|totp|stored",
    "encrypted|rotated|failed|success|present|absent",
    "forgotten|bcrypt|argon2(?:id)?|scrypt|pbkdf2",
    "lost|locked|manual|automatic|public|private|\\(?(?:removed|filtered|sensitive|omitted)\\)?",
    "api[_-]?key|token|jwt|password|string|text|secret|visa|mastercard|amex|service[_-]account",
    "passwordless|policy|rotation|prompt|ask|stdin|interactive|keychain|keyring|vault|nil|void",
    "known after apply|sensitive value",
  ].join("|")})$`,
  "i",
);

/** The sentence of a form or a person about a password. */
const ABOUT = new RegExp(
  `^(?:${[
    "is|are|must|has|have|was|were|should|cannot|can't|could|does|doesn't|please|too|not|needs?",
    "may|will|the|your|a|an|this|no|at|use|enter",
    "choose|reset|forgot|request|customer|user|see|ask",
    "sent|muss|darf|bitte|ist|zu|debe|doit|deve|musi",
  ].join("|")})\\s`,
  "i",
);

const UPPER = /\p{Lu}/u;
const LOWER = /\p{Ll}|\p{Lo}/u;
const DIGIT = /\d/;
const SYMBOL = /[^\p{L}\p{M}\d\s]/u;
const PUBLIC_KEY = /^(?:ssh-(?:rsa|ed25519|dss)|ecdsa-|sk-ssh-|-----BEGIN (?:[A-Z]+ )?PUBLIC)/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** `INV-2026-0012`, `KX-118`: letters, then groups of digits. */
const REFERENCE = /^[A-Z]{1,6}(?:[-_/]?[A-Z]?\d{1,12}){1,5}$/;
const STRONG_MIN = 8;
const STRONG_MAX = 128;
const LONG_MIN = 20;

export function isPlaceholder(text: string): boolean {
  return PLACEHOLDER.test(text);
}

/** `postgres://app:${PASSWORD}@db`, `postgres://app:***@db`. */
export function isTemplate(text: string): boolean {
  return /\$\{|\{\{|\$\(|^\*+$|^x{3,}$|^<|%\w+%|^\[|^\$[A-Z_]{2,}$|^\{\w+\}$/i.test(text);
}

/** A word about a secret, a sentence about one, or a public key. */
export function isAbout(text: string): boolean {
  return STATE_WORD.test(text) || ABOUT.test(text) || PUBLIC_KEY.test(text);
}

/** Without blanks, and no word of a language: several kinds of letters, or very long. */
export function isRandom(text: string): boolean {
  if (text.length < 8 || /\s/.test(text)) return false;
  if (text.length >= 20 && !/^[a-z]+(?:[-_./][a-z]+)*$/i.test(text)) return true;
  return isMixture(text) || (text.length >= 16 && /[A-Z].?[a-z].*[a-z].?[A-Z].*[a-z]/.test(text));
}

export function isMixture(text: string): boolean {
  return kindsOf(text) >= 2 && DIGIT.test(text) && !isDate(text) && !/\s/.test(text);
}

/** What a person or a generator makes up as a password: no date, reference, address or path. */
export function isStrong(text: string, kinds = 2): boolean {
  if (text.length < STRONG_MIN || text.length > STRONG_MAX || !isMixture(text)) return false;
  if (!LOWER.test(text) || kindsOf(text) < kinds) return false;
  return (
    !isIdentifier(text) && !/:\/\/|^[^@\s]+@[\w-]+\.|[()[\]{}<>|\\]|^[\w-]+\.\w{2,4}$/.test(text)
  );
}

/** Three kinds of letters, with a capital or a sign that names and versions do not have. */
export function isMadeUp(text: string): boolean {
  return isStrong(text, 3) && (UPPER.test(text) || isDistinct(text)) && !isPlaceholder(text);
}

/** With a sign that only passwords have. */
export function isDistinct(text: string): boolean {
  return isStrong(text, 3) && /[!#$%&*?^]/.test(text) && !/=./.test(text) && text.length <= 24;
}

/** The name of a secret in a store: `db-credentials`, `STRIPE_WEBHOOK_SECRET`, `shop/prod/db`. */
const NAME_OF_SECRET = new RegExp(
  "^(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][\\w-]*(?:/[a-z][\\w-]*)+|" +
    "(?:[a-z0-9]+[-_.])*(?:secrets?|creds?|credentials?|keys?|tokens?|tls|certs?|name|auth|ref)" +
    "(?:[-_.](?:v\\d{1,3}|prod|dev|staging|name|ref|store))?)$",
);
const WORDS_OF_SECRET = /^\p{L}{2,20}(?: \p{L}{2,20}){1,7}$/u;
const FUNCTION_WORD =
  /(?:^|\s)(?:on|in|by|is|of|for|to|at|the|and|not|was|with|from|will|has|be|it|we|as|or|if)\s/i;

/** A text that a person has chosen as a secret: no name of one, and no sentence about one. */
export function isChosenSecret(text: string): boolean {
  if (text.length < 6 || NAME_OF_SECRET.test(text)) return false;
  return !/\s/.test(text) || (WORDS_OF_SECRET.test(text) && !FUNCTION_WORD.test(text));
}

/** Letters and digits that alternate, as a generator writes them: no id of a known kind. */
export function isGenerated(text: string): boolean {
  if (!/^[\w~-]{16,2000}$/.test(text) || isIdentifier(text)) return false;
  const changes = text.slice(0, 200).match(/[a-z](?=\d)|\d(?=[a-z])/gi) ?? [];
  return changes.length >= 3;
}

/** Long and random, and no id of a known kind. */
export function isLongSecret(text: string): boolean {
  if (text.length < LONG_MIN || !isMixture(text) || isIdentifier(text)) return false;
  return !isPlaceholder(text) && !isPath(text);
}

/** Bytes in hexadecimal or in base64, as keys are written. */
export function isKeyBytes(text: string): boolean {
  const bytes = text.replace(/^base64:/, "");
  if (/^[0-9a-f]{32,512}$/i.test(bytes)) return true;
  return /^[\w+/-]{24,1024}={0,2}$/.test(bytes) && kindsOf(bytes.replaceAll(/[+/=_-]/g, "")) === 3;
}

/** `exports/2026/orders.csv.gz`. */
function isPath(text: string): boolean {
  return text.includes("/") && (/\.\w{2,5}$/.test(text) || !UPPER.test(text));
}

function isIdentifier(text: string): boolean {
  return UUID.test(text) || ULID.test(text) || REFERENCE.test(text);
}

const PHRASE = /^(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8}$/;
const PHRASE_LENGTHS = new Set([12, 15, 18, 21, 24]);
/** Words of sentences that no list of seed words has. */
const SENTENCE = /\b(?:the|and|for|are|was|were|not|has|had|his|her|its|our|their|from|but|may)\b/;

/** A seed phrase of a wallet: as many words as the standard asks for, and no sentence. */
export function isSeedPhrase(text: string): boolean {
  if (text.length > 300 || !PHRASE.test(text) || SENTENCE.test(text)) return false;
  return PHRASE_LENGTHS.has(text.split(/[ ,]+/).length);
}

export function isDate(text: string): boolean {
  return /^\d{1,4}[-./]\d{1,2}(?:[-./]\d{1,4})?(?:T.*)?$|^\d{1,2}:\d{2}/.test(text);
}

export function kindsOf(text: string): number {
  return [UPPER, LOWER, DIGIT, SYMBOL].filter((kind) => kind.test(text)).length;
}

export function hasDigit(text: string): boolean {
  return DIGIT.test(text);
}
