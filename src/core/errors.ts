/**
 * Every error this library throws on purpose, and the four that a handler throws to say how its
 * failure counts.
 */
import type { Instant } from "./duration.ts";
import type { ErrorClass } from "./job.ts";

/**
 * One row serves the HTTP layer, the CLI and the error page of the docs, so that a code means the
 * same thing wherever it surfaces. The hint is the next step, in one plain sentence.
 */
export const CATALOGUE = {
  OPTION_INVALID: { status: 400, hint: "Correct the option that the message names." },
  DEFINITION_INVALID: { status: 400, hint: "Correct the job definition that the message names." },
  PAYLOAD_REFUSED: { status: 422, hint: "Send plain JSON at the path that the message names." },
  PAYLOAD_INVALID: { status: 422, hint: "Send a payload that the job's schema accepts." },
  RESULT_REFUSED: { status: 422, hint: "Return plain JSON at the path that the message names." },
  ID_INVALID: { status: 400, hint: "Give an id of 26 letters, or a UUID." },
  ID_CONFLICT: { status: 409, hint: "Use a new id, or enqueue the same job again unchanged." },
  IDEMPOTENCY_CONFLICT: { status: 422, hint: "Use a new key for a different job." },
  IDEMPOTENCY_KEY_USED: { status: 409, hint: "Look up the job that holds the key." },
  DEDUP_KEY_HELD: { status: 409, hint: "Wait for the job that holds the key, or cancel it first." },
  AFTER_UNKNOWN: {
    status: 422,
    hint: "Enqueue that job first; what runs after a child is to be made with ctx.enqueue, too.",
  },
  TX_INVALID: {
    status: 400,
    hint: "Hand in an open transaction on the database that holds the jobs.",
  },
  TX_ABORTED: { status: 409, hint: "Roll the transaction back, and begin it anew." },
  CHILDREN_TOO_MANY: {
    status: 422,
    hint: "Enqueue them with mill.enqueueMany, in batches, or let children have children.",
  },
  PROGRESS_REFUSED: {
    status: 422,
    hint: "Give a percent from 0 to 100, and plain JSON of moderate size as data.",
  },
  UNIT_DUPLICATE: { status: 422, hint: "Give every unit of a phase a key of its own." },
  UNITS_TOO_MANY: {
    status: 422,
    hint: "Give a phase fewer units, or let child jobs do a share each.",
  },
  UNITS_FAILED: { status: 409, hint: "List the failed units of the job for their errors." },
  JOB_NOT_FOUND: { status: 404, hint: "Check the id; retention may have removed the job." },
  WORKER_NOT_FOUND: { status: 404, hint: "List the workers; it may have left." },
  JOB_FAILED: { status: 409, hint: "Read the job's dead letter for the cause." },
  JOB_NOT_RUNNING: { status: 409, hint: "Retry it to run it now, or cancel it." },
  NOTHING_TO_RETRY: {
    status: 409,
    hint: "To run all of it once more, retry it with { restart: true }.",
  },
  JOB_OVER: { status: 409, hint: "Retry it to get a linked successor; what is over stays." },
  WAIT_TIMED_OUT: { status: 504, hint: "Wait longer, or ask why with jobs.explain." },
  CLOSE_FROM_WITHIN: {
    status: 500,
    hint: "Close the mill where you opened it, after its jobs, and not in a handler.",
  },
  STOP_TIMED_OUT: { status: 500, hint: "Let handlers listen to ctx.signal, or give more grace." },
  NOT_YET: { status: 501, hint: "It comes with a later release." },
  JOB_CANCELLED: { status: 409, hint: "Read the reason, and enqueue it again if it is wanted." },
  NODE_TOO_OLD: { status: 500, hint: "Install Node 24, or a newer even release." },
  SQLITE_TOO_OLD: { status: 500, hint: "Install a Node release whose SQLite is 3.51.3 or newer." },
  STORE_FOLDER_MISSING: { status: 500, hint: "Create the folder, or name another file." },
  STORE_UNREADABLE: { status: 500, hint: "Give this user the right to read the file." },
  STORE_READ_ONLY: {
    status: 500,
    hint: "Give this user the right to write the file and its folder.",
  },
  STORE_IS_FOLDER: { status: 500, hint: "Name a file inside the folder." },
  STORE_NOT_SQLITE: { status: 500, hint: "Name another file; this one is left untouched." },
  STORE_FOREIGN: {
    status: 500,
    hint: "Name another file, or allow its tables beside the others with { shared: true }.",
  },
  STORE_CORRUPT: { status: 500, hint: "Keep a copy of what is there, and restore the backup." },
  STORE_NEWER: { status: 500, hint: "Install the version of Millrace that last wrote the store." },
  STORE_FULL: { status: 507, hint: "Free space on the disk, then try again." },
  STORE_BUSY: { status: 503, hint: "Try again; if it stays busy, find the program that holds it." },
  STORE_REFUSED: { status: 422, hint: "Correct the value that the message names." },
  STORE_FAILED: { status: 500, hint: "Read the cause, and try again." },
  STORE_UNREACHABLE: {
    status: 503,
    hint: "Start the server, or correct the host and the port of its URL.",
  },
  STORE_DENIED: {
    status: 500,
    hint: "Correct the user and the password, or grant the right that the message names.",
  },
  STORE_DATABASE_MISSING: {
    status: 500,
    hint: "Create the database, or correct its name at the end of the URL.",
  },
  STORE_SERVER_READ_ONLY: {
    status: 503,
    hint: "Connect to the primary; after a failover, try again once there is a new one.",
  },
  STORE_CROWDED: {
    status: 503,
    hint: "Raise max_connections, lower the poolSize of each process, or use a pooler.",
  },
  STORE_SCHEMA_FOREIGN: {
    status: 500,
    hint: "Name a schema of its own, such as with ?schema=jobs at the end of the URL.",
  },
  STORE_UNSUITABLE: { status: 500, hint: "Name a database in UTF8 on PostgreSQL 15 or newer." },
  STORE_MOVED: {
    status: 410,
    hint: "Give your processes the URL of the database that the message names.",
  },
  STORE_INCOMPLETE: {
    status: 503,
    hint: "Run the same millrace copy again to end it, or give it up with --abandon.",
  },
  STORE_OCCUPIED: {
    status: 409,
    hint: "Name an empty database, or another schema with ?schema= at the end of the URL.",
  },
  STORE_OLDER: { status: 409, hint: "Bring it up to date first, with millrace migrate." },
  STORE_CLOSED: { status: 500, hint: "Open the store before you use it, and not after its end." },
  BACKUP_EXISTS: { status: 409, hint: "Name a file that does not exist yet." },
} as const;

/** The name of an error, the same in TypeScript, HTTP, CLI and docs. */
export type ErrorCode = keyof typeof CATALOGUE;

export interface MillraceErrorOptions {
  readonly cause?: unknown;
  /** What a program may read: the path, the option, the id. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * What the library throws when the caller can react: `code` says what it is, `message` names the
 * thing, `hint` tells the next step.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { MillraceError } from "millrace";
 *
 * const error = new MillraceError("JOB_NOT_FOUND", "There is no job 01JCR5M4X2E8T9V6B3N7K0QWAZ.");
 * assert.equal(error.status, 404);
 * assert.equal(error.hint, "Check the id; retention may have removed the job.");
 * ```
 */
export class MillraceError extends Error {
  // On the prototype, so that the first line of the stack bears the name, and a subclass may set
  // its own.
  static {
    this.prototype.name = "MillraceError";
  }

  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: MillraceErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.details = options.details ?? {};
  }

  get status(): number {
    return CATALOGUE[this.code].status;
  }

  get hint(): string {
    return CATALOGUE[this.code].hint;
  }
}

// The four classes say what they are by the property "~class" and not by identity: a worker
// started by one installed copy of the library must understand an error made by another.

/**
 * Thrown by a handler: something outside failed for a moment. The job runs again after its backoff.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TransientError } from "millrace";
 *
 * const error = new TransientError("the mail server hung up", { service: "smtp" });
 * assert.equal(error.service, "smtp");
 * ```
 */
export class TransientError extends Error {
  static {
    this.prototype.name = "TransientError";
  }

  /** The external service that failed; its breaker counts the failure. */
  readonly service: string | undefined;

  constructor(message: string, options: { cause?: unknown; service?: string } = {}) {
    super(message, options);
    this.service = options.service;
  }

  get "~class"(): ErrorClass {
    return "transient";
  }
}

/**
 * Thrown by a handler: another try may succeed. The job runs again after its backoff.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { RetryableError } from "millrace";
 *
 * const lock = new Error("row is locked");
 * assert.equal(new RetryableError("the ledger is busy", { cause: lock }).cause, lock);
 * ```
 */
export class RetryableError extends Error {
  static {
    this.prototype.name = "RetryableError";
  }

  // Only to ask for a message, which Error itself does not.
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
  }

  get "~class"(): ErrorClass {
    return "retryable";
  }
}

/**
 * Thrown by a handler: no further try can succeed. The job fails at once and becomes a dead letter.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { NonRetryableError } from "millrace";
 *
 * assert.equal(new NonRetryableError("the account is closed").name, "NonRetryableError");
 * ```
 */
export class NonRetryableError extends Error {
  static {
    this.prototype.name = "NonRetryableError";
  }

  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
  }

  get "~class"(): ErrorClass {
    return "non_retryable";
  }
}

/**
 * Thrown by a handler: the other side asked for patience. The job runs again after `retryAfter`, or
 * after the longer backoff of its class.
 *
 * A number is milliseconds, as every duration here; the header `Retry-After: 30` is `30_000` or
 * `"30s"`. A Date or an ISO string is the moment itself.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { RateLimitedError } from "millrace";
 *
 * const error = new RateLimitedError("the bank said 429", { retryAfter: "30s", service: "bank" });
 * assert.equal(error.retryAfter, "30s");
 * ```
 */
export class RateLimitedError extends Error {
  static {
    this.prototype.name = "RateLimitedError";
  }

  /** A length or a moment; `Instant` holds the types of both. */
  readonly retryAfter: Instant | undefined;
  /** The external service that asked; all its jobs wait with this one. */
  readonly service: string | undefined;

  constructor(
    message: string,
    options: { cause?: unknown; retryAfter?: Instant; service?: string } = {},
  ) {
    super(message, options);
    this.retryAfter = options.retryAfter;
    this.service = options.service;
  }

  get "~class"(): ErrorClass {
    return "rate_limited";
  }
}
