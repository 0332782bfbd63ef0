/** What PostgreSQL's and the network's errors mean to a caller, and which of them pass. */
import { MillraceError, type ErrorCode } from "../../../core/errors.ts";

/**
 * What an error says about the work it ended.
 *
 * - `refused`: the database does not take a value; the same work fails again.
 * - `conflict`: another transaction stood in the way and nothing was written; try again.
 * - `locked`: a lock was not to be had in the time that was given.
 * - `read-only`: the server takes no writes, for it is no primary now, but perhaps another is.
 *   Nothing was written.
 * - `lost`: the connection is gone or silent. Whether the last statement took effect is unknown.
 * - `other`: anything else; nothing was written.
 */
export type FailureKind = "refused" | "conflict" | "locked" | "read-only" | "lost" | "other";

const CONFLICTS = new Set(["40001", "40P01"]);
const LOCK_NOT_AVAILABLE = "55P03";
const READ_ONLY = "25006";
const TOO_MANY_CONNECTIONS = "53300";
/** The server ends the session: shutdown, crash, starting up, database dropped, session idle. */
const SESSION_ENDS = /^(08|57P0|25P03|25P04)/;

const MEANINGS: readonly (readonly [RegExp, ErrorCode, string])[] = [
  [/^(22|23)/, "STORE_REFUSED", "the database refused a value"],
  [/^25006$/, "STORE_SERVER_READ_ONLY", "the server takes no writes"],
  [/^28/, "STORE_DENIED", "the server does not let this user in"],
  [/^3D000$/, "STORE_DATABASE_MISSING", "there is no such database"],
  [/^42501$/, "STORE_DENIED", "this user lacks a right in the database"],
  [/^(40|55P03$)/, "STORE_BUSY", "another transaction stood in the way"],
  [/^53100$/, "STORE_FULL", "the server's disk is full"],
  [/^53300$/, "STORE_CROWDED", "the server has no connection left"],
  [/^(53|57014$)/, "STORE_BUSY", "the server has too much to do"],
  [/^MR001$/, "STORE_INCOMPLETE", "the installation is not there yet"],
  [/^XX00[12]$/, "STORE_CORRUPT", "the database is damaged"],
  [SESSION_ENDS, "STORE_UNREACHABLE", "the server ended the connection"],
];

/** The answer to a write was lost: it may have taken effect, or not. Each verb decides. */
export class UncertainWrite extends Error {
  static {
    this.prototype.name = "UncertainWrite";
  }

  constructor(cause: unknown) {
    super("the answer to a write was lost", { cause });
  }
}

/** No connection could be had, so nothing was sent. */
export class NotConnected extends Error {
  static {
    this.prototype.name = "NotConnected";
  }

  constructor(cause: unknown) {
    super("no connection could be had", { cause });
  }
}

/** The work saw something that has changed meanwhile: begin the transaction anew. */
export class Outdated extends Error {
  static {
    this.prototype.name = "Outdated";
  }
}

export function failureOf(error: unknown): FailureKind {
  if (error instanceof Outdated) return "conflict";
  if (error instanceof MillraceError) return error.code === "STORE_REFUSED" ? "refused" : "other";
  const state = sqlState(error);
  if (state === null) return isNetwork(error) ? "lost" : "other";
  if (CONFLICTS.has(state)) return "conflict";
  if (state === LOCK_NOT_AVAILABLE) return "locked";
  if (state === READ_ONLY) return "read-only";
  if (SESSION_ENDS.test(state)) return "lost";
  return /^2[23]/.test(state) ? "refused" : "other";
}

/** True when a session that met this error must not be used again. */
export function breaksConnection(error: unknown): boolean {
  if (error instanceof UncertainWrite) return true;
  // A server that has become read-only is left behind: a new session may find the new primary.
  return failureOf(error) === "lost" || failureOf(error) === "read-only";
}

/** True when the server did not answer in time: it may still be at work on the statement. */
export function isAnswerTimeout(error: unknown): boolean {
  const cause = error instanceof UncertainWrite ? error.cause : error;
  return cause instanceof Error && cause.message === "Query read timeout";
}

/** True when the write that met this error may have taken effect nevertheless. */
export function isUncertain(error: unknown): boolean {
  const wasSent = !(error instanceof Error && UNSENT_WORDS.test(error.message));
  return failureOf(error) === "lost" && wasSent;
}

/** True when a row of the same key is there already. */
export function isDuplicate(error: unknown): boolean {
  return sqlState(error) === "23505";
}

/** True when the user lacks a right. */
export function isDenied(error: unknown): boolean {
  return sqlState(error) === "42501";
}

/** True when there was no connection to be had, and perhaps there is one soon. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof NotConnected)) return false;
  const state = sqlState(error.cause);
  if (state !== null) return SESSION_ENDS.test(state) || state === TOO_MANY_CONNECTIONS;
  return isNetwork(error.cause);
}

/** An error of the database as one that teaches; anything else as it is. `place` is no secret. */
export function storeError(error: unknown, place: string): unknown {
  if (error instanceof MillraceError) return error;
  if (error instanceof Outdated) {
    return new MillraceError("STORE_BUSY", `others kept changing the same jobs (${place})`);
  }
  const isWrapped = error instanceof UncertainWrite || error instanceof NotConnected;
  const cause = isWrapped ? error.cause : error;
  if (cause instanceof MillraceError) return cause;
  const meaning = meaningOf(cause, error instanceof NotConnected);
  if (meaning === null) return error;
  const [code, words] = meaning;
  return new MillraceError(code, `${words} (${place}: ${messageOf(cause)})`, {
    cause,
    details: {
      place,
      sqlState: sqlState(cause),
      uncertain: error instanceof UncertainWrite,
    },
  });
}

/** What to call an error, in a word for programs and in some for people. Null: it is not ours. */
function meaningOf(cause: unknown, isConnecting: boolean): readonly [ErrorCode, string] | null {
  const state = sqlState(cause);
  if (state !== null) {
    const [, code, words] = MEANINGS.find(([pattern]) => pattern.test(state)) ?? [];
    return [code ?? "STORE_FAILED", words ?? "PostgreSQL refused the operation"];
  }
  // The driver itself finds out that there is no password, or none that fits.
  if (isConnecting && /password|SASL/.test(messageOf(cause))) {
    return ["STORE_DENIED", "the server does not let this user in"];
  }
  if (isConnecting && messageOf(cause).startsWith("timeout exceeded")) {
    return ["STORE_BUSY", "no connection of the pool was free in time"];
  }
  return isConnecting || isNetwork(cause)
    ? ["STORE_UNREACHABLE", "the server cannot be reached"]
    : null;
}

/** The five letters of an error that the server itself has sent. */
function sqlState(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  const { code } = error;
  // Codes of the system, such as EPIPE, may be five letters long; they come with a call's name.
  if (typeof code !== "string" || "syscall" in error) return null;
  return /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

const NETWORK_CODES =
  /^(E(CONN\w+|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NETDOWN|AI_AGAIN|NOTFOUND)|ENOENT|ERR_SSL\w*)$/;
/** The driver's own words for a session that ended or does not answer. */
const NETWORK_WORDS =
  /^(Connection terminated|Query read timeout|timeout (exceeded|expired)|Client (has|was) )/;

/** The driver's words for a session that had ended before it was used. */
const UNSENT_WORDS = /^Client (has|was) /;

function isNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && typeof error.code === "string" && NETWORK_CODES.test(error.code)) {
    return true;
  }
  if (error instanceof AggregateError) return error.errors.some((each) => isNetwork(each));
  return NETWORK_WORDS.test(error.message);
}

/** What happened; a failure to connect to several addresses has no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map((each) => messageOf(each)).join(", ");
  }
  return error instanceof Error ? error.message : String(error);
}
