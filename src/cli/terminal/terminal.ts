import { styleText } from "node:util";
import { plainLines } from "../../lib/plain-text.ts";
import type { Paint, Size } from "../follow/render-job.ts";

/** Where a command speaks: results to `out`, everything else to `err`. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** True when a person reads what goes to `err`, and not a file or a log collector. */
  readonly isWatched?: boolean;
  /** Where `err` can be drawn over. */
  readonly screen?: Screen;
}

/** What is behind `err`, where a cursor can be moved. */
export interface Screen {
  /** As it is now: people resize their windows. */
  readonly size: () => Size;
  /** Writes as it is, with what steers: not for the words of others. */
  readonly write: (text: string) => void;
  /** Colours a text, where colours are wanted. */
  readonly paint: Paint;
}

const { stderr } = process;

const systemScreen: Screen = {
  // Some terminals do not know how large they are, or say 0.
  size: () => ({ width: stderr.columns || 80, height: stderr.rows || 24 }),
  write: (text) => void stderr.write(text),
  // Obeys NO_COLOR, NODE_DISABLE_COLORS and FORCE_COLOR.
  paint: (style, text) => styleText(style, text, { stream: stderr }),
};

export const systemTerminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void stderr.write(text),
  isWatched: stderr.isTTY,
  ...(stderr.isTTY && process.env["TERM"] !== "dumb" ? { screen: systemScreen } : {}),
};

/** The same, to which nothing gets that would steer it: much of what is shown is others' text. */
export function plainTerminal(terminal: Terminal): Terminal {
  return {
    ...terminal,
    out: (text) => terminal.out(plainLines(text)),
    err: (text) => terminal.err(plainLines(text)),
  };
}
