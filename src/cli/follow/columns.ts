/** How many columns of a terminal a text takes, and how to make it fit. */

/** What people call a letter, be it of several code points. */
const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** Two columns each. */
const WIDE_SCRIPT = /[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}]/u;
const WIDE_SIGN = /[\p{Emoji_Presentation}\ufe0f\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
const WITHOUT_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

export function columnsOf(text: string): number {
  let columns = 0;
  for (const { segment } of letters.segment(text)) columns += columnsOfLetter(segment);
  return columns;
}

/** The text itself, or as much of it as fits, with a mark where it was cut. */
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

/** Exactly that wide: cut, or filled with spaces. */
export function fitTo(text: string, columns: number): string {
  const cut = cutTo(text, columns);
  return cut + " ".repeat(Math.max(0, columns - columnsOf(cut)));
}

function columnsOfLetter(letter: string): number {
  if (WITHOUT_WIDTH.test(letter)) return 0;
  return WIDE_SCRIPT.test(letter) || WIDE_SIGN.test(letter) ? 2 : 1;
}
