/** Prepares text for display and storage. */

/** The length of a well-formed `text` in UTF-8, counted without an encoder. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes, so each half adds one like the two-byte
    // letters.
    bytes += unit < 0x800 || isSurrogate(unit) ? 1 : 2;
  }
  return bytes;
}

/** The first `unitsMax` code units, less one where that would split a letter. */
export function head(text: string, unitsMax: number): string {
  if (text.length <= unitsMax) return text;
  const splits = isHighSurrogate(text.charCodeAt(unitsMax - 1));
  return text.slice(0, splits ? unitsMax - 1 : unitsMax);
}

/** The longest prefix of a well-formed `text` that has at most `bytesMax` bytes in UTF-8. */
export function headBytes(text: string, bytesMax: number): string {
  let bytes = 0;
  let end = 0;
  for (const letter of text) {
    bytes += utf8Bytes(letter);
    if (bytes > bytesMax) return text.slice(0, end);
    end += letter.length;
  }
  return text;
}

/** Text that every store accepts: at most `unitsMax` long, well-formed, without U+0000. */
export function storable(text: string, unitsMax: number): string {
  const cut = text.length > unitsMax ? `${head(text, unitsMax - 1)}…` : text;
  return cut.toWellFormed().replaceAll("\0", "\uFFFD");
}

/** A value of unknown kind, short enough for an error message. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case "string":
      return storable(JSON.stringify(value), 100);
    case "bigint":
      return storable(`${value}n`, 100);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "an array" : "an object";
    case "function":
      return "a function";
    case "symbol":
      return "a symbol";
    case "number":
    case "boolean":
    case "undefined":
      return String(value);
  }
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
