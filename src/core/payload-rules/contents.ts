/** Bodies of mails and contents of documents, which belong into a store of their own. */
import * as mail from "./tables/mail-words.ts";
import { wordSet, wordsOf } from "./words.ts";
import { anyOf, inSequence } from "./patterns.ts";
import type { Secret } from "./fields.ts";
import type { Place } from "./places.ts";

const MAIL_FIELDS = wordSet(mail.MAIL_FIELDS);
const MAIL_NAMES = wordSet(mail.MAIL_NAMES);
const BODY_NAMES = wordSet(mail.BODY_NAMES);
const DOCUMENT_NAMES = wordSet(mail.DOCUMENT_NAMES);
const CONTENT_NAMES = wordSet(mail.CONTENT_NAMES);
const DOCUMENT_FIELDS = wordSet(mail.DOCUMENT_FIELDS);

/** The last words of names of files in base64. */
const FILE_NAMES = new Set(
  "base64 b64 data content file blob bytes pdf image attachment docx scan photo contents".split(
    " ",
  ),
);

/** Long values under these names are no documents. */
const OTHER_NAMES = new Set(
  (
    "signature sig hash digest checksum certificate cert chain x5c csr key cursor token etag " +
    "fingerprint nonce proof challenge sync continuation next page state iv tag"
  ).split(" "),
);

const GREETING = new RegExp(
  `^\\s{0,8}(?:<[^>]{1,200}>\\s{0,8}){0,8}(?:${mail.GREETINGS.join("|")})(?!\\p{L})`,
  "iu",
);
/** A greeting on a line of its own. */
const GREETING_LINE = new RegExp(
  `(?:^|\\n|>)[ \\t]{0,8}(?:${mail.GREETINGS.join("|")})(?!\\p{L})[^\\n<]{0,80}` +
    `[,:!，：]?[ \\t]{0,8}(?:\\r?\\n|<br|</p|</div)`,
  "iu",
);
const SIGN_OFF = new RegExp(`(?<!\\p{L})(?:${mail.CLOSINGS.join("|")})(?!\\p{L})`, "iu");
/** A closing on a line of its own. */
const SIGN_OFF_LINE = new RegExp(
  `(?:\\n|>)[ \\t]{0,8}(?:${mail.CLOSINGS.join("|")})[^\\n<]{0,30}(?:\\r?\\n|<|$)`,
  "iu",
);
const QUOTED = new RegExp(`(?:^|\\n)(?:> |(?:> ?)?(?:${mail.WROTE.join("|")}))`, "u");
const HEADERS = /(?:^|\n)(?:From|Received|Return-Path|Delivered-To|MIME-Version): .{1,500}\r?\n/;
const SUBJECT = /(?:^|\n)(?:Subject|To|Content-Type|Date): /;
const COPIED_FROM = new RegExp(`(?:^|\\n)[>* ]{0,4}(?:${mail.COPIED_FROM})\\*? ?[:：]`, "u");
const COPIED_SUBJECT = new RegExp(`(?:^|\\n)[>* ]{0,4}(?:${mail.COPIED_SUBJECT})\\*? ?[:：]`, "u");
const DOCUMENT_MARKS = mail.DOCUMENT_MARKS.map((mark) => new RegExp(mark, "iu"));
const MARKUP = /<(?:html|body|p|div|table|br|td|span|h[1-6])\b/i;

const DATA_ADDRESS = inSequence(
  "",
  /^\s{0,8}data:[\w.+-]{1,80}\/[\w.+-]{1,80}(?:;[\w=.-]{1,80}){0,4}/,
  /;base64,[A-Za-z0-9+/=\s]{60}/,
);
/** The first letters of files in base64: PDF, ZIP and Office, images, old Office. */
const FILE_IN_BASE64 = inSequence(
  "",
  /^/,
  anyOf(
    /JVBERi0|UEsDB|iVBORw0KGgo|\/9j\/|R0lGOD|0M8R4KGx|SUkqA|TU0AK|e1xydGY|H4sIA/,
    /PD94bWwg|PCFET0NUWVBFI|PGh0bWw/,
  ),
);
const FILE = /^(?:%PDF-|255044462d|504b0304|\{\\rtf1|<\?xml |<!DOCTYPE html)/i;
const BASE64 = /^[A-Za-z0-9+/_-]{60,}(?:\s{1,2}[A-Za-z0-9+/_-]{1,200}){0,100000}={0,2}\s{0,2}$/;
const HEX = /^[0-9a-f]+$/i;

/** The least lengths, in characters, of what counts as a body or as a document. */
const MAIL_MIN = 40;
const SHARED_NAME_MAIL_MIN = 60;
const NAMED_DOCUMENT_MIN = 80;
const CONTENT_MIN = 400;
const CONTENT_BESIDE_DOCUMENT_MIN = 150;
const BASE64_MIN = 200;
const NAMED_BASE64_MIN = 64;
const FILE_MIN = 40;
const MAIL_OF_ANY_NAME_MIN = 100;
const MARKED_DOCUMENT_MIN = 250;
const MARKS_MIN = 2;

const LETTER_MAX = 100_000;
const MAIL: Secret = { set: "mail_bodies", what: "the body of a mail" };

/** A mail body or the content of a document; null: neither. */
export function contentIn(
  { field: name, name: outer, beside: own, around }: Place,
  text: string,
): Secret | null {
  if (text.length < MAIL_MIN) return null;
  if (isFile(name, text)) return { set: "document_content", what: "the content of a file" };
  const beside = [own, ...around];
  if (isMail(name, text, beside) || isMail(outer, text, beside)) {
    return MAIL;
  }
  if (!isDocument(name, text, beside)) return null;
  return { set: "document_content", what: "the content of a document" };
}

function isFile(name: string, text: string): boolean {
  if (DATA_ADDRESS.test(text) || FILE.test(text)) return true;
  const words = wordsOf(name);
  if (words.some((word) => OTHER_NAMES.has(word))) return false;
  if (text.length >= FILE_MIN && FILE_IN_BASE64.test(text)) return !/\s\w+\s/.test(text);
  const least = FILE_NAMES.has(words.at(-1) ?? "") ? NAMED_BASE64_MIN : BASE64_MIN;
  return text.length >= least && BASE64.test(text) && !HEX.test(text) && isMixed(text);
}

function isMixed(text: string): boolean {
  return /[A-Z]/.test(text) && /[a-z]/.test(text) && /\d/.test(text) && !/-\w+-\w+-/.test(text);
}

function isMail(name: string, text: string, beside: readonly (readonly string[])[]): boolean {
  if (HEADERS.test(text) && SUBJECT.test(text)) return true;
  if (isLetter(text)) return true;
  const joined = wordsOf(name).join("");
  if (MAIL_NAMES.has(joined)) return isProse(text, 4) || MARKUP.test(text) || isMixed(text);
  if (!BODY_NAMES.has(joined) || text.length < SHARED_NAME_MAIL_MIN) return false;
  const isBesideMail = hasName(beside, MAIL_FIELDS);
  if (isBesideMail) return isProse(text, 5) || MARKUP.test(text);
  return GREETING.test(text) && (SIGN_OFF.test(text) || QUOTED.test(text));
}

/** A letter line by line. */
export function letterIn(lines: readonly string[]): Secret | null {
  return isLetter(lines.join("\n").slice(0, LETTER_MAX)) ? MAIL : null;
}

/** A mail under any name: the lines with which mails begin, end and quote each other. */
function isLetter(text: string): boolean {
  if (text.length < MAIL_OF_ANY_NAME_MIN || !/\n|<br|<\/p|<\/div/i.test(text)) return false;
  const marks = [GREETING_LINE, SIGN_OFF_LINE, QUOTED].filter((mark) => mark.test(text)).length;
  if (marks >= 2) return isProse(text, 12);
  return COPIED_FROM.test(text) && COPIED_SUBJECT.test(text);
}

function hasName(groups: readonly (readonly string[])[], names: ReadonlySet<string>): boolean {
  return groups.some((group) => group.some((name) => names.has(wordsOf(name).join(""))));
}

function isDocument(name: string, text: string, beside: readonly (readonly string[])[]): boolean {
  const joined = wordsOf(name).join("");
  if (DOCUMENT_NAMES.has(joined)) return text.length >= NAMED_DOCUMENT_MIN && isProse(text, 8);
  if (hasMarks(text)) return true;
  if (!CONTENT_NAMES.has(joined)) return false;
  const isBeside = hasName(beside, DOCUMENT_FIELDS);
  const least = isBeside ? CONTENT_BESIDE_DOCUMENT_MIN : CONTENT_MIN;
  return text.length >= least && isProse(text, isBeside ? 15 : 30);
}

/** A document under any name: long prose with the words of contracts, minutes or invoices. */
function hasMarks(text: string): boolean {
  if (text.length < MARKED_DOCUMENT_MIN || !isProse(text, 40)) return false;
  return DOCUMENT_MARKS.filter((mark) => mark.test(text)).length >= MARKS_MIN;
}

/** Words between blanks, so that a path or an id of any length is no prose. */
function isProse(text: string, least: number): boolean {
  let count = 0;
  for (const _ of text.matchAll(/\s\S/g)) {
    count += 1;
    if (count >= least) return true;
  }
  return false;
}
