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
