import { plainLines } from "../lib/plain-text.ts";

/** Where a command speaks: results to `out`, everything else to `err`. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** True when a person reads what goes to `err`, and not a file or a log collector. */
  readonly isWatched?: boolean;
}

export const systemTerminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  isWatched: process.stderr.isTTY,
};

/** The same, to which nothing gets that would steer it: much of what is shown is others' text. */
export function plainTerminal(terminal: Terminal): Terminal {
  return {
    ...terminal,
    out: (text) => terminal.out(plainLines(text)),
    err: (text) => terminal.err(plainLines(text)),
  };
}
