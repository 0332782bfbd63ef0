/** The exit codes of the commands. They are stable, because scripts depend on them. */
import { MillraceError } from "../../core/errors.ts";
import type { ErrorCode } from "../../core/errors.ts";
import type { FinalState } from "../../core/job.ts";
import type { Terminal } from "./terminal.ts";

export const EXIT = {
  success: 0,
  /** The code of a failed command, and of a failed job. */
  broken: 1,
  usage: 2,
  completedWithErrors: 3,
  cancelled: 4,
  store: 5,
  timedOut: 124,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error of the user's files or arguments. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode;
  /** The next step, in one plain sentence. */
  readonly hint: string;

  constructor(message: string, options: { readonly hint: string; readonly exitCode: ExitCode }) {
    super(message);
    this.exitCode = options.exitCode;
    this.hint = options.hint;
  }
}

const USAGE_ERRORS: ReadonlySet<ErrorCode> = new Set([
  "OPTION_INVALID",
  "BACKUP_EXISTS",
  "DEFINITION_INVALID",
  "ID_INVALID",
  "NOT_YET",
  "PAYLOAD_INVALID",
  "PAYLOAD_MISMATCH",
  "PAYLOAD_RULE_BROKEN",
  "PAYLOAD_VERSION_NEWER",
  "PAYLOAD_REFUSED",
  "TYPE_UNKNOWN",
]);

/** Prints an error and the next step. A stack is printed only for a bug of Millrace. */
export function reportError(error: unknown, terminal: Terminal): ExitCode {
  if (error instanceof MillraceError) {
    terminal.err(`${error.code}: ${error.message}\n${error.hint}\n`);
    return exitCodeOf(error.code);
  }
  if (error instanceof CommandFailure) {
    terminal.err(`${error.message}\n${error.hint}\n`);
    return error.exitCode;
  }
  const story = error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.err(`This is a bug in Millrace; please report it:\n${story}\n`);
  return EXIT.broken;
}

/** The code of a command that has waited for a job. */
export function exitCodeOfState(state: FinalState): ExitCode {
  switch (state) {
    case "completed":
      return EXIT.success;
    case "completed_with_errors":
      return EXIT.completedWithErrors;
    case "failed":
      return EXIT.broken;
    case "cancelled":
      return EXIT.cancelled;
  }
}

function exitCodeOf(code: ErrorCode): ExitCode {
  if (USAGE_ERRORS.has(code)) return EXIT.usage;
  if (code === "WAIT_TIMED_OUT" || code === "DRAIN_TIMED_OUT") return EXIT.timedOut;
  if (code === "SERVER_UNREACHABLE" || code === "SQLITE_TOO_OLD") return EXIT.store;
  if (code.startsWith("STORE_")) return EXIT.store;
  return EXIT.broken;
}
