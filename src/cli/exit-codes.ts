/** What a command's exit code tells the script that called it. Stable: scripts depend on it. */
import { MillraceError } from "../core/errors.ts";
import type { ErrorCode } from "../core/errors.ts";
import type { Terminal } from "./terminal.ts";

export const EXIT = {
  success: 0,
  broken: 1,
  usage: 2,
  store: 5,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const USAGE_ERRORS: ReadonlySet<ErrorCode> = new Set(["OPTION_INVALID", "BACKUP_EXISTS"]);

/** Says what went wrong and what to do next. A stack is shown only for our own mistakes. */
export function reportError(error: unknown, terminal: Terminal): ExitCode {
  if (error instanceof MillraceError) {
    terminal.err(`${error.code}: ${error.message}\n${error.hint}\n`);
    return exitCodeOf(error.code);
  }
  const story = error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.err(`This is a mistake in Millrace, please report it:\n${story}\n`);
  return EXIT.broken;
}

function exitCodeOf(code: ErrorCode): ExitCode {
  if (USAGE_ERRORS.has(code)) return EXIT.usage;
  if (code.startsWith("STORE_") || code === "SQLITE_TOO_OLD") return EXIT.store;
  return EXIT.broken;
}
