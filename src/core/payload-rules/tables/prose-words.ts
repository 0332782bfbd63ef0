/** Words with which people write about passwords and codes, in the languages of their mails. */

/** Nouns for a password that stand alone. */
export const PASSWORD_NOUNS: readonly string[] = [
  "pass ?words?|pass ?phrase|pass ?code|passwd|pwd|pw|psw|login code|credentials?",
  "zugangscode|zugangsdaten|wlan-schlüssel|wifi key|wi-?fi code|pin code|pin|puk",
  "mot de passe|mdp|contraseña|contrasena|clave",
  "palabra de paso|senha|palavra-passe|palavra passe",
  "parola d'ordine|chiave di accesso|adgangskode|kodeord|passord(?:et)?|door code|gate code",
  "salasana|has[lł]o|heslo|jelszó|parola|şifre(?:niz|si)?|lozinka|geslo|код доступа|alarm code",
  "пароль|пароля|парола|κωδικός|συνθηματικό|पासवर्ड|safe code",
];

/** Nouns that also end a compound, such as `Zugangspasswort`, or stand without blanks. */
export const COMPOUND_NOUNS: readonly string[] = [
  "passwort|kennwort|wachtwoord|lösenord(?:et)?|パスワード|密码|密碼|口令|비밀번호",
];

/** Nouns for other secrets. */
export const SECRET_NOUNS: readonly string[] = [
  "secret|api[ -]key|access key|token|api-schlüssel|clé api|clave api|license key|encryption key",
];

/** Between the noun and the value. */
export const IS: readonly string[] = [
  "is|was|are|=|:|：|->|→|=>|stays|reads|ist|lautet|war|est|sera|devient|es|será|é|è|är|blir",
  "jest|brzmi|je|zní|est[aá]|dir|це|это|είναι|は|が|是|为|為|는|은|है|hai",
];

/** Words that also lead to a place or a time, so that the value must look like a password. */
export const TO: readonly string[] = ["to|now|jetzt|nun|auf|ahora|ora|agora|er|on|na|til|till|à|a"];

/** Nouns for a code that is valid once. */
export const CODE_NOUNS: readonly string[] = [
  "code|codes|passcode|otp|tan|mtan|pin|one-time code|kod|kodu|kode|koodi|código|codigo|codice",
  "código de verificación|codice di verifica|код|κωδικός|コード|验证码|驗證碼|인증번호|kód",
];

/** Whose the code is, or what it is for: without such a word, a code may be one of a product. */
export const OF_A_PERSON: RegExp = new RegExp(
  `(?<![\\p{L}])(?:${[
    "your|verification|login|log-?in|sign-?in|security",
    "access|one-time|authentication|auth|2fa|mfa",
    "door|gate|alarm|safe|entry|ihr|ihre|dein|deine",
    "bestätigungs\\w*|sicherheits\\w*|einmal\\w*|tan",
    "votre|ton|vérification|su|tu|verificación|seguridad|acceso|il tuo|tuo|seu|sua|verificação",
    "uw|je|jouw|verificatie\\w*|din|ditt|twój|twoj|weryfikacyjny|váš|ваш|твой|подтверждения|otp",
    "doğrulama|onay|vahvistus\\w*|認証|確認|验证码|驗證碼",
    "인증번호|never share|do not share|expires? in",
  ].join("|")})(?![\\p{L}])`,
  "iu",
);

/** Codes that are no secrets. */
export const OTHER_CODES: RegExp = new RegExp(
  `(?:${[
    "error|zip|postal|post|country|area|status|exit|promo|discount|voucher|coupon|order|product",
    "tracking|booking|reference|dress|bar|qr|source",
    "http|response|colou?r|item|article|swift|bank",
    "sort|branch|currency|language|gift|fehler|rabatt|país|postale?|erreur|referral|airport|tax",
    "dial(?:ling)?|icd|hs|sku|class|diagnosis|return|activity|cost|room|batch|lot",
  ].join("|")})[ -]?$`,
  "i",
);

/** What a text says about a code that must not be told. */
export const KEPT_SECRET: RegExp =
  /(?:never|not|n't) (?:share|give|tell)|niemandem|nicht weiter|ne .{1,20}partage|no (?:lo )?comp/i;

/** What a text about an account says. */
export const ABOUT_ACCOUNT: RegExp = new RegExp(
  `\\b(?:${[
    "log(?:ged)? ?(?:in|on)|sign ?in|password|account|access|locked out|einlogg\\w*|anmeld\\w*",
    "zugang|passwort|konto|connecter|compte|acceso",
    "cuenta|sesión|acesso|accesso|inloggen|logga in",
  ].join("|")})\\b`,
  "i",
);
