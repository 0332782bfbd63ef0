/** Texts within texts: in base64, in hexadecimal digits, and encoded for an address. */

const BASE64 = /^[A-Za-z0-9+/_-]{16,100000}={0,2}$/;
const HEX = /^(?:[0-9a-f]{2}){8,50000}$/i;
/** Bytes that are controls in any text. */
// oxlint-disable-next-line no-control-regex -- Controls are looked for.
const UNREADABLE = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F]/;
/** U+FFFD stands for bytes that are no text. */
const READABLE = /^[\t\r\n\x20-\x7E\u00A0-\uFFFC]+$/;
const UTF_8 = new TextDecoder("utf-8");

/** The text that another one encodes, if it can be read; null: it encodes none. */
export function encodedIn(text: string): string | null {
  if (/^%(?:7B|5B)/i.test(text)) return decodedAddress(text);
  if (HEX.test(text)) return readable(bytesOfHex(text));
  return BASE64.test(text) && hasWholeBytes(text) ? readable(bytesOfBase64(text)) : null;
}

function decodedAddress(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function bytesOfHex(text: string): string {
  return text.replaceAll(/../g, (byte) => String.fromCharCode(Number(`0x${byte}`)));
}

/** An error for each id that is no base64 would cost more than all other tests. */
function hasWholeBytes(text: string): boolean {
  return text.endsWith("=") ? text.length % 4 === 0 : text.length % 4 !== 1;
}

function bytesOfBase64(text: string): string {
  return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
}

/** The text that these bytes are in UTF-8. A byte is a letter. Most ids end at the first test. */
function readable(bytes: string): string | null {
  if (UNREADABLE.test(bytes)) return null;
  const text = UTF_8.decode(Uint8Array.from(bytes, (letter) => letter.charCodeAt(0)));
  return READABLE.test(text) ? text : null;
}
