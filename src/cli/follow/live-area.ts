/** The last lines of a terminal, which are redrawn in place. */
import { stripVTControlCharacters } from "node:util";
import { plainLines } from "../../lib/plain-text.ts";
import type { Screen } from "../terminal/terminal.ts";
import { columnsOf } from "./columns.ts";

const ERASE_BELOW = "\u001b[J";
/** Wrapping is off, because a wrapped line would make the count of lines wrong. */
const WRAP_OFF = "\u001b[?7l";
const WRAP_ON = "\u001b[?7h";

export class LiveArea {
  readonly #screen: Screen;
  #drawn: readonly string[] = [];

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Replaces the drawn lines. */
  draw(lines: readonly string[]): void {
    this.#replace("", lines);
  }

  /** Writes permanent lines above the drawn lines. */
  say(text: string): void {
    this.#replace(plainLines(text), this.#drawn);
  }

  /** Keeps the drawn lines and erases the text below them, such as `^C`. */
  end(): void {
    if (this.#drawn.length === 0) return;
    this.#drawn = [];
    this.#screen.write(`\r${ERASE_BELOW}`);
  }

  /** Writes once, so that the terminal never shows a partial update. */
  #replace(above: string, lines: readonly string[]): void {
    const { width, height } = this.#screen.size();
    const rows = this.#drawn.reduce((sum, line) => sum + rowsOf(line, width), 0);
    const up = Math.min(rows, height - 1);
    const home = up === 0 ? "\r" : `\r\u001b[${up}A`;
    const picture = lines.map((line) => `${line}\n`).join("");
    this.#screen.write(`${home}${ERASE_BELOW}${above}${WRAP_OFF}${picture}${WRAP_ON}`);
    this.#drawn = lines;
  }
}

/** The rows of a line. A window that has become narrower shows one line on several rows. */
function rowsOf(line: string, width: number): number {
  const columns = columnsOf(stripVTControlCharacters(line));
  return Math.max(1, Math.ceil(columns / Math.max(1, width)));
}
