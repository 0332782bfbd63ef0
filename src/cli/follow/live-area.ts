/** The last lines of a terminal, which are drawn over and over in the same place. */
import { stripVTControlCharacters } from "node:util";
import { plainLines } from "../../lib/plain-text.ts";
import type { Screen } from "../terminal/terminal.ts";
import { columnsOf } from "./columns.ts";

const ERASE_BELOW = "\u001b[J";
/** A line that is too long after all must not become two: the count of lines would be wrong. */
const WRAP_OFF = "\u001b[?7l";
const WRAP_ON = "\u001b[?7h";

export class LiveArea {
  readonly #screen: Screen;
  #drawn: readonly string[] = [];

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Draws these lines in the place of those before. */
  draw(lines: readonly string[]): void {
    this.#replace("", lines);
  }

  /** Writes lines above what is drawn. They stay. */
  say(text: string): void {
    this.#replace(plainLines(text), this.#drawn);
  }

  /** Leaves what is drawn, and takes away what was typed below it, such as `^C`. */
  end(): void {
    if (this.#drawn.length === 0) return;
    this.#drawn = [];
    this.#screen.write(`\r${ERASE_BELOW}`);
  }

  /** In one piece, so that nobody sees it half done. */
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

/** A window that has become narrower since shows what was one line on several rows. */
function rowsOf(line: string, width: number): number {
  const columns = columnsOf(stripVTControlCharacters(line));
  return Math.max(1, Math.ceil(columns / Math.max(1, width)));
}
