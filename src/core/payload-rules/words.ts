/** The words of names, in one spelling for all cases, scripts and accents. */

const NAME_LENGTH_MAX = 200;
const ASCII = /^[\x20-\x7E]*$/;
/** Letters that Unicode does not take apart into a plain letter and an accent. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};

/** Lower case without accents: `Contraseña` is `contrasena`, `Hasło` is `haslo`. */
function folded(text: string): string {
  const lower = text.toLowerCase();
  if (ASCII.test(lower)) return lower;
  return lower
    .normalize("NFD")
    .replaceAll(/[\u0300-\u036F]/g, "")
    .normalize("NFC")
    .replaceAll(/[ßæœøłđðþı]/g, (letter) => PLAIN_LETTERS[letter]!);
}

/** Payloads of a type have the same names again and again. */
const KNOWN = new Map<string, readonly string[]>();
const KNOWN_MAX = 5_000;

/** The words of a name: `dbPassword`, `DB_PASSWORD` and `db-password` have two. */
export function wordsOf(name: string): readonly string[] {
  const known = KNOWN.get(name);
  if (known !== undefined) return known;
  const words = splitName(name);
  if (KNOWN.size < KNOWN_MAX && name.length <= NAME_LENGTH_MAX) KNOWN.set(name, words);
  return words;
}

function splitName(name: string): readonly string[] {
  const apart = name
    .slice(0, NAME_LENGTH_MAX)
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  return folded(apart)
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== "");
}

/** A set of the words in some texts, as names spell them. */
export function wordSet(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => folded(list).split(" ")));
}
