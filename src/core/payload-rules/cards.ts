/** Numbers of payment cards: digits in known groups, with a known prefix and a right checksum. */

import { anyOf, inSequence } from "./patterns.ts";
import { wordSet, wordsOf } from "./words.ts";

interface Network {
  readonly prefix: RegExp;
  readonly lengths: readonly number[];
}

/** The lengths by prefix, as the networks publish them. */
const NETWORKS: readonly Network[] = [
  { prefix: /^4/, lengths: [16, 19] },
  { prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] },
  { prefix: /^3[47]/, lengths: [15] },
  { prefix: /^(?:6011|65|64[4-9])/, lengths: [16, 19] },
  { prefix: /^(?:30[0-5]|36|38|39)/, lengths: [14] },
  { prefix: /^35(?:2[89]|[3-8])/, lengths: [16] },
  { prefix: /^62/, lengths: [16, 17, 18, 19] },
  { prefix: /^220[0-4]/, lengths: [16] },
  { prefix: /^(?:5018|5020|5038|5893|6304|6759|676[1-3])/, lengths: [16, 17, 18, 19] },
];

const LONG = [16, 17, 18, 19];
/** Networks whose numbers are rare, or as wide as other numbers: a name or groups must say more. */
const WIDE_NETWORKS: readonly Network[] = [
  { prefix: /^4/, lengths: [13] },
  // Diners Club, and UATP.
  { prefix: /^(?:30[0-5]|3095|36|38|39)/, lengths: [14, 15, ...LONG] },
  { prefix: /^1/, lengths: [15] },
  // Maestro, Verve, Elo, Hipercard, Dankort, RuPay, UnionPay and Troy.
  { prefix: /^(?:50|5[6-9]|6|8[12]|9792)/, lengths: LONG },
];

/** A run of digits in groups, as people write card numbers. */
const CANDIDATE = inSequence(
  "g",
  /(?<![0-9A-Za-z.]|[0-9][ \u00A0\u2010-\u2013-])\d(?:[ .\u00A0\u2010-\u2013-]?\d){12,18}/,
  /(?![0-9A-Za-z]|[ .\u00A0\u2010-\u2013-]?\d)/,
);
const TRACK = /(?:%B(?=\d{13,19}\^)|;(?=\d{13,19}=\d{4}))(\d{13,19})/;

/** Names of numbers that are as long as those of cards. */
const OTHER_NUMBERS = new Set(
  (
    "order orders invoice tracking shipment imei ean gtin upc " +
    "sku isbn id ids ref reference ticket " +
    "serial iccid phone timestamp ts at snowflake message batch trace parcel consignment barcode " +
    "meter policy claim case sequence offset version"
  ).split(" "),
);

/** Text before a number that names it as something else. */
const OTHER_CONTEXT =
  /(?:order|invoice|tracking|imei|ref|reference|ticket|shipment|serial|id|no|nr)\W{0,3}$/i;

/** Text before a number that names it as that of a card. */
const CARD_CONTEXT = inSequence(
  "i",
  anyOf(
    /card|karte|kreditkarte|tarjeta|carte|cartão|carta|kaart|kort|visa|mastercard|amex|pan|cc/,
    /maestro|diners(?: club)?|rupay|troy|verve|elo|hipercard|unionpay|uatp|discover|jcb|mir/,
  ),
  /[\s-]{0,2}(?:no|nr|num|number|nummer|numéro|número|n°|#)?\.?\W{0,4}$/,
);

/** Words in the names of fields with card numbers. */
const CARD_NAMES = wordSet(
  "card cards cc pan visa mastercard amex maestro diners rupay troy verve elo hiper hipercard jcb",
  "unionpay uatp discover mir dankort karte kreditkarte tarjeta carte cartao carta kaart kort",
);
const CONTEXT_LENGTH = 40;
/** The fields of a number that is split: `ccnum1`, `card_number_part_2`. */
const PART = /^(.{0,60}?)[_-]?(?:part|block|group|segment|teil)?[_-]?([1-5])$/i;
const PART_OF_NUMBER = /^\d{2,10}$/;

function isCardNumber(digits: string, isNamed: boolean): boolean {
  const isKnown = [...NETWORKS, ...(isNamed ? WIDE_NETWORKS : [])].some(
    ({ prefix, lengths }) => lengths.includes(digits.length) && prefix.test(digits),
  );
  return isKnown && hasChecksum(digits) && new Set(digits).size > 1;
}

/** The fields that have the parts of a card number, in any order; none: no number is split. */
export function partsOfCard(
  object: { readonly [key: string]: unknown },
  keys: readonly string[],
  outer: string,
): readonly string[] {
  const parts = keys.filter((key) => PART.test(key) && PART_OF_NUMBER.test(String(object[key])));
  if (parts.length < 2 || !parts.every((key) => isNamedCard(`${outer}_${stemOf(key)}`))) return [];
  const sorted = parts.toSorted((a, b) => Number(a.at(-1)) - Number(b.at(-1)));
  return isSplitCard(sorted.map((key) => String(object[key]))) ? parts : [];
}

export function isSplitCard(parts: readonly string[]): boolean {
  return parts.every((part) => PART_OF_NUMBER.test(part)) && isCardNumber(parts.join(""), true);
}

function stemOf(key: string): string {
  return PART.exec(key)![1]!;
}

function isNamedCard(name: string): boolean {
  return wordsOf(name).some((word) => CARD_NAMES.has(word) || /^cc(?:n|num|no|nr)$/.test(word));
}

/** Whether a text contains the number of a card. `name` is that of its field. */
export function hasCard(text: string, name: string): boolean {
  const track = TRACK.exec(text)?.[1];
  if (track !== undefined && hasChecksum(track)) return true;
  for (const { 0: found, index } of text.matchAll(CANDIDATE)) {
    const isOther = wordsOf(name).some((word) => OTHER_NUMBERS.has(word));
    const isGrouped = /\D/.test(found);
    const before = text.slice(Math.max(0, index - CONTEXT_LENGTH), index);
    const isNamedOther = isOther || (OTHER_CONTEXT.test(before) && !CARD_CONTEXT.test(before));
    if (isNamedOther && !isGrouped) continue;
    if (isGrouped && !isInGroups(found)) continue;
    const isCard = isNamedCard(name) || CARD_CONTEXT.test(before);
    const isWide = isCard || (isGrouped && !isNamedOther);
    if (isCardNumber(found.replaceAll(/\D/g, ""), isWide)) return true;
  }
  return false;
}

/** The digits of a field that is named after a card: no checksum, so that a typing error counts. */
export function looksLikeCard(text: string): boolean {
  const digits = text.replaceAll(/[\s.-]/g, "");
  return /^\d{12,19}$/.test(digits) && new Set(digits).size > 2;
}

/** Groups of four, or 4-6-5, 4-6-4 and 4-5-6, with one kind of separator. */
function isInGroups(text: string): boolean {
  return /^(?:\d{4}(\D)\d{4}\1\d{4}\1\d{1,7}|\d{4}(\D)\d{5,6}\2\d{4,6})$/.test(text);
}

/** The checksum of Luhn. */
function hasChecksum(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
