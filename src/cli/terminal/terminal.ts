import { styleText } from "node:util";
import { plainLines } from "../../lib/plain-text.ts";
import type { Paint, Size } from "../follow/render-job.ts";

/** The output of a command: results to `out`, everything else to `err`. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** True when `err` is a terminal, and not a file or a log collector. */
  readonly isWatched?: boolean;
  /**
   * Asks a person, and resolves with a line of the answer. Absent without a person at a terminal.
   * Rejects when `signal` aborts.
   */
  readonly ask?: (question: string, signal?: AbortSignal) => Promise<string>;
  /** The terminal behind `err`, if it supports cursor movement. */
  readonly screen?: Screen;
}

/** A terminal that supports cursor movement. */
export interface Screen {
  /** The current size, because windows are resized. */
  readonly size: () => Size;
  /** Writes control characters as they are. Not for text of users. */
  readonly write: (text: string) => void;
  /** Colours a text, if colours are enabled. */
  readonly paint: Paint;
}

/** The exit code that shells report for a program ended by a closed pipe. */
const CLOSED_PIPE = 141;

const { stdout, stderr } = process;

const systemScreen: Screen = {
  // Some terminals report no size, or 0.
  size: () => ({ width: stderr.columns || 80, height: stderr.rows || 24 }),
  write: (text) => void stderr.write(text),
  // Obeys NO_COLOR, NODE_DISABLE_COLORS and FORCE_COLOR.
  paint: (style, text) => styleText(style, text, { stream: stderr }),
};

async function askOnTerminal(question: string, signal?: AbortSignal): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  // The terminal stays in its usual mode, so that Ctrl-C is a signal.
  const lines = createInterface({ input: process.stdin, output: stderr, terminal: false });
  try {
    return await lines.question(question, signal === undefined ? {} : { signal });
  } finally {
    lines.close();
  }
}

export const systemTerminal: Terminal = {
  // `millrace jobs list | head` closes the pipe before the end of the output.
  out: (text) => void stdout.write(text, (error) => error && process.exit(CLOSED_PIPE)),
  err: (text) => void stderr.write(text),
  isWatched: stderr.isTTY,
  ...(process.stdin.isTTY && stderr.isTTY ? { ask: askOnTerminal } : {}),
  ...(stderr.isTTY && process.env["TERM"] !== "dumb" ? { screen: systemScreen } : {}),
};

/** The terminal with control characters removed, because much of the output is text of users. */
export function plainTerminal(terminal: Terminal): Terminal {
  return {
    ...terminal,
    out: (text) => terminal.out(plainLines(text)),
    err: (text) => terminal.err(plainLines(text)),
  };
}
