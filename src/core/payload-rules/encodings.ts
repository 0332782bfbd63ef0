/** Texts within texts: in base64, in hexadecimal digits, and encoded for an address. */

const BASE64 = /^[A-Za-z0-9+/_-]{16,100000}={0,2}$/;
const HEX = /^(?:[0-9a-f]{2}){8,50000}$/i;
const READABLE = /^[\t\r\n\x20-\x7E\u00A0-\uFFFD]+$/;

/** The text that another one encodes, if it can be read; null: it encodes none. */
export function encodedIn(text: string): string | null {
  try {
    if (/^(?:%7B|%5B)/i.test(text)) return decodeURIComponent(text);
    if (HEX.test(text)) return readable(text.match(/../g)!.map((byte) => Number(`0x${byte}`)));
    if (!BASE64.test(text)) return null;
    const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return readable(Array.from(plain, (letter) => letter.charCodeAt(0)));
  } catch {
    return null;
  }
}

function readable(bytes: readonly number[]): string | null {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
  return READABLE.test(text) ? text : null;
}
