/** Measures text in columns of a terminal, and cuts or pads it. */

/** Splits text into graphemes, which may have several code points. */
const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** Characters with a width of two columns. */
const WIDE_SCRIPT = /[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}]/u;
const WIDE_SIGN = /[\p{Emoji_Presentation}\ufe0f\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
const WITHOUT_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

export function columnsOf(text: string): number {
  let columns = 0;
  for (const { segment } of letters.segment(text)) columns += columnsOfLetter(segment);
  return columns;
}

/** The text, cut to `columns` with an ellipsis if it is wider. */
export function cutTo(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let [cut, taken] = ["", 0];
  for (const { segment } of letters.segment(text)) {
    taken += columnsOfLetter(segment);
    if (taken > columns - 1) break;
    cut += segment;
  }
  return columns < 1 ? "" : `${cut}…`;
}

/** The text with exactly `columns` columns: cut, or padded with spaces. */
export function fitTo(text: string, columns: number): string {
  const cut = cutTo(text, columns);
  return cut + " ".repeat(Math.max(0, columns - columnsOf(cut)));
}

function columnsOfLetter(letter: string): number {
  if (WITHOUT_WIDTH.test(letter)) return 0;
  return WIDE_SCRIPT.test(letter) || WIDE_SIGN.test(letter) ? 2 : 1;
}
