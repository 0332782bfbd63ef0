/** Maps SQLite's result codes to errors of the catalogue. */
import { MillraceError, type ErrorCode } from "../../../core/errors.ts";

const BUSY = 5;
/** The locking protocol was disturbed, mostly by a process that died. A retry succeeds. */
const PROTOCOL = 15;
const CONSTRAINT = 19;
/** The extended code of a trigger's refusal. Only the write block of a moved file has triggers. */
const TRIGGER_REFUSED = 1811;
/** The start of the trigger's message. The new place of the installation follows. */
export const MOVED = "this installation moved to ";
const MEANINGS: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  [BUSY]: ["STORE_BUSY", "another process kept the database locked"],
  8: ["STORE_READ_ONLY", "the database cannot be written"],
  10: ["STORE_FAILED", "the disk reported an error"],
  11: ["STORE_CORRUPT", "the database file is damaged"],
  13: ["STORE_FULL", "there is no room left for the database"],
  14: ["STORE_UNREADABLE", "the database file cannot be opened"],
  [PROTOCOL]: ["STORE_BUSY", "another process disturbed the locking of the database"],
  [CONSTRAINT]: ["STORE_REFUSED", "the database refused a value"],
  26: ["STORE_NOT_SQLITE", "the file is not a SQLite database"],
};

/** True when another connection holds the lock, so that a retry may succeed. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === BUSY || code === PROTOCOL;
}

/** True when the database refused a value. Only the current statement has failed. */
export function isRefused(error: unknown): boolean {
  if (error instanceof MillraceError) return error.code === "STORE_REFUSED";
  return primaryCode(error) === CONSTRAINT && extendedCode(error) !== TRIGGER_REFUSED;
}

/** An error of SQLite as a MillraceError; any other error unchanged. */
export function storeError(error: unknown, path: string): unknown {
  const code = primaryCode(error);
  if (code === null) return error;
  if (extendedCode(error) === TRIGGER_REFUSED && error instanceof Error) {
    const [, to] = error.message.split(MOVED);
    if (to !== undefined) return movedError(to);
  }
  const [name, meaning] = MEANINGS[code] ?? ["STORE_FAILED", "SQLite refused the operation"];
  const detail = error instanceof Error ? error.message : String(error);
  return new MillraceError(name, `${meaning} (${path}: ${detail})`, {
    cause: error,
    details: { path, sqliteCode: code },
  });
}

/** The error for every write to an installation that has moved. */
export function movedError(to: string): MillraceError {
  const message = `${MOVED}${to}; point your processes there`;
  return new MillraceError("STORE_MOVED", message, { details: { to } });
}

/** SQLite's primary result code: the low byte of the extended code. */
function primaryCode(error: unknown): number | null {
  const code = extendedCode(error);
  return code === null ? null : code & 0xff;
}

function extendedCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error)) return null;
  return typeof error.errcode === "number" ? error.errcode : null;
}
