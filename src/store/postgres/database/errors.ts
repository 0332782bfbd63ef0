/** Classifies errors of PostgreSQL and of the network, and translates them for callers. */
import { MillraceError, type ErrorCode } from "../../../core/errors.ts";

/**
 * What an error means for the work that failed.
 *
 * - `refused`: the database refuses a value; the same work would fail again.
 * - `conflict`: a concurrent transaction interfered and nothing was written; retry.
 * - `locked`: a lock was not available within the lock time-out.
 * - `read-only`: the server is read-only, perhaps because of a failover. Nothing was written.
 * - `lost`: the connection is broken or silent. Whether the last statement took effect is unknown.
 * - `other`: anything else; nothing was written.
 */
export type FailureKind = "refused" | "conflict" | "locked" | "read-only" | "lost" | "other";

const CONFLICTS = new Set(["40001", "40P01"]);
const LOCK_NOT_AVAILABLE = "55P03";
const CANCELLED = "57014";
const READ_ONLY = "25006";
const TOO_MANY_CONNECTIONS = "53300";
/** The server ended the session: shutdown, crash, start-up, dropped database, idle session. */
const SESSION_ENDS = /^(08|57P0|25P03|25P04)/;

const MEANINGS: readonly (readonly [RegExp, ErrorCode, string])[] = [
  [/^(22|23)/, "STORE_REFUSED", "the database refused a value"],
  [/^25006$/, "STORE_SERVER_READ_ONLY", "the server is read-only"],
  [/^28/, "STORE_DENIED", "the server rejected the login of this user"],
  [/^3D000$/, "STORE_DATABASE_MISSING", "the database does not exist"],
  [/^42501$/, "STORE_DENIED", "this user lacks a privilege in the database"],
  [/^(40|55P03$)/, "STORE_BUSY", "another transaction held a lock or changed the same rows"],
  [/^53100$/, "STORE_FULL", "the server's disk is full"],
  [/^53300$/, "STORE_CROWDED", "the server has no connection left"],
  [/^53/, "STORE_BUSY", "the server is overloaded"],
  [
    /^57014$/,
    "STORE_BUSY",
    "the server cancelled the statement, perhaps for its statement_timeout",
  ],
  [/^MR002$/, "STORE_NEWER", "a newer release of Millrace has migrated the database"],
  [/^MR001$/, "STORE_INCOMPLETE", "the installation is incomplete"],
  [/^XX00[12]$/, "STORE_CORRUPT", "the database is damaged"],
  [SESSION_ENDS, "STORE_UNREACHABLE", "the server ended the connection"],
];

/** The answer to a write was lost, and it may have taken effect. Each verb decides. */
export class UncertainWrite extends Error {
  static {
    this.prototype.name = "UncertainWrite";
  }

  constructor(cause: unknown) {
    super("the answer to a write was lost", { cause });
  }
}

/** No connection was available, so nothing was sent. */
export class NotConnected extends Error {
  static {
    this.prototype.name = "NotConnected";
  }

  constructor(cause: unknown) {
    super("no connection was available", { cause });
  }
}

/** A transaction failed and may still be open on its connection. Nothing was written. */
export class NotRolledBack extends Error {
  static {
    this.prototype.name = "NotRolledBack";
  }

  constructor(cause: unknown) {
    super("the transaction could not be rolled back", { cause });
  }
}

/** A concurrent transaction changed what this one has read: restart the transaction. */
export class Outdated extends Error {
  static {
    this.prototype.name = "Outdated";
  }
}

export function failureOf(error: unknown): FailureKind {
  if (error instanceof Outdated) return "conflict";
  if (error instanceof NotRolledBack) return failureOf(error.cause);
  if (error instanceof MillraceError) return error.code === "STORE_REFUSED" ? "refused" : "other";
  const state = sqlState(error);
  if (state === null) return isNetwork(error) ? "lost" : "other";
  if (CONFLICTS.has(state)) return "conflict";
  if (state === LOCK_NOT_AVAILABLE) return "locked";
  if (state === READ_ONLY) return "read-only";
  if (SESSION_ENDS.test(state)) return "lost";
  return /^2[23]/.test(state) ? "refused" : "other";
}

/** A text that the database refuses matches nothing. */
export async function orNothing<Answer>(search: Promise<Answer>, nothing: Answer): Promise<Answer> {
  try {
    return await search;
  } catch (error) {
    if (failureOf(error) !== "refused") throw error;
    return nothing;
  }
}

/** True when a connection must be closed after this error. */
export function breaksConnection(error: unknown): boolean {
  if (error instanceof UncertainWrite || error instanceof NotRolledBack) return true;
  // After a failover, a new connection may reach the new primary.
  return failureOf(error) === "lost" || failureOf(error) === "read-only";
}

/** True when the server did not answer in time: it may still execute the statement. */
export function isAnswerTimeout(error: unknown): boolean {
  const cause = error instanceof UncertainWrite ? error.cause : error;
  return cause instanceof Error && cause.message === "Query read timeout";
}

/** True when a statement was ended by a limit of time: of the client, the server or a lock. */
export function isTimeout(error: unknown): boolean {
  if (error instanceof NotRolledBack) return isTimeout(error.cause);
  return isAnswerTimeout(error) || [CANCELLED, LOCK_NOT_AVAILABLE].includes(sqlState(error) ?? "");
}

/** True when a write that failed with this error may have taken effect. */
export function isUncertain(error: unknown): boolean {
  const wasSent = !(error instanceof Error && UNSENT_MESSAGES.test(error.message));
  return failureOf(error) === "lost" && wasSent;
}

/** True when a row with the same key exists. */
export function isDuplicate(error: unknown): boolean {
  return sqlState(error) === "23505";
}

/** True when the user lacks a privilege. */
export function isDenied(error: unknown): boolean {
  return sqlState(error) === "42501";
}

/** True when no connection was available, and a retry may succeed. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof NotConnected)) return false;
  const state = sqlState(error.cause);
  if (state !== null) return SESSION_ENDS.test(state) || state === TOO_MANY_CONNECTIONS;
  return isNetwork(error.cause);
}

/** Translates an error of the database; others are unchanged. `place` contains no secret. */
export function storeError(error: unknown, place: string): unknown {
  if (error instanceof NotRolledBack) return storeError(error.cause, place);
  if (error instanceof MillraceError) return error;
  if (error instanceof Outdated) {
    return new MillraceError(
      "STORE_BUSY",
      `other transactions kept changing the same jobs (${place})`,
    );
  }
  const isWrapped = error instanceof UncertainWrite || error instanceof NotConnected;
  const cause = isWrapped ? error.cause : error;
  if (cause instanceof MillraceError) return cause;
  const meaning = meaningOf(cause, error instanceof NotConnected);
  if (meaning === null) return error;
  const [code, text] = meaning;
  return new MillraceError(code, `${text} (${place}: ${messageOf(cause)})`, {
    cause,
    details: {
      place,
      sqlState: sqlState(cause),
      uncertain: error instanceof UncertainWrite,
      timedOut: isTimeout(cause),
    },
  });
}

/** Code and message of an error. Null: not an error of the database or the network. */
function meaningOf(cause: unknown, isConnecting: boolean): readonly [ErrorCode, string] | null {
  const state = sqlState(cause);
  if (state !== null) {
    const [, code, text] = MEANINGS.find(([pattern]) => pattern.test(state)) ?? [];
    return [code ?? "STORE_FAILED", text ?? "PostgreSQL refused the operation"];
  }
  // The driver itself reports a missing or wrong password.
  if (isConnecting && /password|SASL/.test(messageOf(cause))) {
    return ["STORE_DENIED", "the server rejected the login of this user"];
  }
  if (isConnecting && messageOf(cause).startsWith("timeout exceeded")) {
    return ["STORE_BUSY", "no connection of the pool was free in time"];
  }
  return isConnecting || isNetwork(cause)
    ? ["STORE_UNREACHABLE", "the server cannot be reached"]
    : null;
}

/** The SQLSTATE of an error that the server has sent. */
export function sqlState(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  const { code } = error;
  // System codes, such as EPIPE, may have five letters too; those errors have a `syscall`.
  if (typeof code !== "string" || "syscall" in error) return null;
  return /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

const NETWORK_CODES =
  /^(E(CONN\w+|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NETDOWN|AI_AGAIN|NOTFOUND)|ENOENT|ERR_SSL\w*)$/;
/** The driver's messages for a connection that ended or does not answer. */
const NETWORK_MESSAGES =
  /^(Connection terminated|Query read timeout|timeout (exceeded|expired)|Client (has|was) )/;

/** The driver's messages for a connection that had ended before the statement was sent. */
const UNSENT_MESSAGES = /^Client (has|was) /;

function isNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && typeof error.code === "string" && NETWORK_CODES.test(error.code)) {
    return true;
  }
  if (error instanceof AggregateError) return error.errors.some((each) => isNetwork(each));
  return NETWORK_MESSAGES.test(error.message);
}

/** The message of an error. An AggregateError of several addresses has none of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map((each) => messageOf(each)).join(", ");
  }
  return error instanceof Error ? error.message : String(error);
}

/** The answer to any use before `open` or after `close`. */
export function closedError(): MillraceError {
  return new MillraceError("STORE_CLOSED", "the store is not open");
}
