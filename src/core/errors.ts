/**
 * The errors that the library throws, and the four error classes that a handler throws to say how
 * its failure counts.
 */
import type { Instant } from "./duration.ts";
import type { ErrorClass } from "./job.ts";

/**
 * The HTTP status and the hint of each code. HTTP, CLI and docs share the catalogue, so that a code
 * means the same everywhere. The hint says in one sentence what to do.
 */
export const CATALOGUE = {
  OPTION_INVALID: { status: 400, hint: "Correct the option that the message names." },
  DEFINITION_INVALID: { status: 400, hint: "Correct the job definition that the message names." },
  PAYLOAD_REFUSED: { status: 422, hint: "Send plain JSON at the path that the message names." },
  PAYLOAD_INVALID: { status: 422, hint: "Send a payload that the job's schema accepts." },
  PAYLOAD_RULE_BROKEN: {
    status: 422,
    hint: "Change the payload at the paths that the message names; millrace payloads rules list.",
  },
  PAYLOAD_MISMATCH: {
    status: 422,
    hint: "Leave the field out of the payload, or give it the value that the job has.",
  },
  PAYLOAD_VERSION_NEWER: {
    status: 422,
    hint: "Deploy the code that knows this payload version, or send a version that is known.",
  },
  TYPE_UNKNOWN: { status: 422, hint: "Enqueue a type that the job file declares." },
  RESULT_REFUSED: { status: 422, hint: "Return plain JSON at the path that the message names." },
  ID_INVALID: { status: 400, hint: "Give an id of 26 letters, or a UUID." },
  ID_CONFLICT: { status: 409, hint: "Use a new id, or enqueue the same job again unchanged." },
  IDEMPOTENCY_CONFLICT: { status: 422, hint: "Use another idempotency key for a different job." },
  IDEMPOTENCY_KEY_USED: { status: 409, hint: "Read the job that holds the idempotency key." },
  DEDUP_KEY_HELD: {
    status: 409,
    hint: "Wait for the job that holds the dedup key, or cancel that job.",
  },
  AFTER_UNKNOWN: {
    status: 422,
    hint: "Enqueue the job in after first. Use ctx.enqueue for a job that depends on a child.",
  },
  INTAKE_CLOSED: {
    status: 503,
    hint: "Enqueue the job again later, or ask an operator to open the intake.",
  },
  QUOTA_EXCEEDED: {
    status: 429,
    hint: "Enqueue the job later, or raise the quota with millrace tenants quota.",
  },
  PAYLOAD_OVER_QUOTA: {
    status: 413,
    hint: "Shorten the payload, or raise the quota with millrace tenants quota.",
  },
  TENANT_BUSY: {
    status: 409,
    hint: "Stop the workers that run these jobs, then ask for the removal again: it continues.",
  },
  FUNCTION_UNKNOWN: {
    status: 422,
    hint: "Name the function in functions of mill.work, or register it in PostgreSQL.",
  },
  FUNCTION_FAILED: { status: 422, hint: "Correct the function that the message names." },
  ENVELOPE_INVALID: {
    status: 422,
    hint: 'Answer an object such as { "status": "succeeded", "payload": {} }.',
  },
  TX_INVALID: {
    status: 400,
    hint: "Pass an open transaction on the database of the store.",
  },
  TX_ABORTED: { status: 409, hint: "Roll the transaction back, and start it again." },
  CHILDREN_TOO_MANY: {
    status: 422,
    hint: "Enqueue the jobs in batches with mill.enqueueMany, or from child jobs.",
  },
  PROGRESS_REFUSED: {
    status: 422,
    hint: "Give a percent from 0 to 100, and plain JSON of at most 64 KB as data.",
  },
  UNIT_DUPLICATE: { status: 422, hint: "Give every unit of a phase a key of its own." },
  UNITS_TOO_MANY: {
    status: 422,
    hint: "Give the phase fewer units, or split the work into child jobs.",
  },
  UNITS_FAILED: { status: 409, hint: "List the failed units of the job to read their errors." },
  JOB_NOT_FOUND: { status: 404, hint: "Check the id; retention may have removed the job." },
  FORBIDDEN_TENANT: {
    status: 403,
    hint: "Use the mill or the token of that tenant, or one of all tenants.",
  },
  TYPE_NOT_FOUND: { status: 404, hint: "List the types; a worker declares them when it starts." },
  WORKER_NOT_FOUND: { status: 404, hint: "List the workers; the worker may have stopped." },
  WORKER_STOPPING: { status: 409, hint: "Start another worker: this one ends with its jobs." },
  SCHEDULE_NOT_FOUND: { status: 404, hint: "List the schedules; their names are case-sensitive." },
  SCHEDULE_EXISTS: { status: 409, hint: "Choose another name, or update the schedule." },
  SCHEDULE_OWNED_BY_CODE: {
    status: 409,
    hint: "Change the schedule where the code declares it, and deploy; a pause works here.",
  },
  SCHEDULES_TOO_MANY: {
    status: 409,
    hint: "Remove schedules that are not needed, or make several jobs from one schedule.",
  },
  OPERATION_NOT_FOUND: {
    status: 404,
    hint: "List the operations; retention removes an operation 30 days after its end.",
  },
  OPERATIONS_TOO_MANY: {
    status: 409,
    hint: "Wait until an operation has ended, or stop one with millrace operations stop.",
  },
  TOKEN_NOT_FOUND: { status: 404, hint: "List the tokens; retention may have removed the token." },
  TOKEN_ENDED: { status: 409, hint: "Use a token that is neither revoked nor expired." },
  JOB_FAILED: { status: 409, hint: "Read the dead letter of the job." },
  JOB_NOT_RUNNING: { status: 409, hint: "Retry the job to run it now, or cancel it." },
  JOB_NOT_WAITING: {
    status: 409,
    hint: "Change a job while it waits; cancel the job to stop its run.",
  },
  RUN_HEALTHY: {
    status: 409,
    hint: "Cancel the job to stop its run, or add --force if its handler hangs.",
  },
  NOTHING_TO_RETRY: {
    status: 409,
    hint: "Retry the job with { restart: true } to run all phases again.",
  },
  JOB_OVER: { status: 409, hint: "Retry the job to enqueue a linked successor." },
  WAIT_TIMED_OUT: { status: 504, hint: "Wait longer, or read the reason with jobs.explain." },
  DRAIN_TIMED_OUT: {
    status: 504,
    hint: "Drain again, cancel or release the jobs that still run, or resume the target.",
  },
  CLOSE_FROM_WITHIN: {
    status: 500,
    hint: "Close the mill where it was opened, outside of handlers.",
  },
  STOP_TIMED_OUT: { status: 500, hint: "Make handlers obey ctx.signal, or raise grace." },
  NOT_YET: { status: 501, hint: "Leave out the part that the message names." },
  JOB_CANCELLED: { status: 409, hint: "Read the reason, and enqueue the job again if needed." },
  NODE_TOO_OLD: { status: 500, hint: "Install Node 24, or a newer even release." },
  SQLITE_TOO_OLD: { status: 500, hint: "Install a Node release whose SQLite is 3.51.3 or newer." },
  STORE_FOLDER_MISSING: { status: 500, hint: "Create the folder, or name another file." },
  STORE_UNREADABLE: { status: 500, hint: "Give this user the right to read the file." },
  STORE_READ_ONLY: {
    status: 500,
    hint: "Give this user the right to write the file and its folder.",
  },
  STORE_IS_FOLDER: { status: 500, hint: "Name a file inside the folder." },
  STORE_NOT_SQLITE: { status: 500, hint: "Name another file; this file is not changed." },
  STORE_FOREIGN: {
    status: 500,
    hint: "Name another file, or add the tables to this file with { shared: true }.",
  },
  STORE_CORRUPT: { status: 500, hint: "Keep a copy of the file, and restore the last backup." },
  STORE_NEWER: { status: 500, hint: "Install the version of Millrace that last wrote the store." },
  STORE_FULL: { status: 507, hint: "Free space on the disk, then try again." },
  STORE_BUSY: {
    status: 503,
    hint: "Try again; if the error persists, find the program that holds the lock.",
  },
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
  STORE_MISSING: {
    status: 500,
    hint: "Name another store, or run millrace migrate to create this one.",
  },
  STORE_SERVER_READ_ONLY: {
    status: 503,
    hint: "Connect to the primary. During a failover, try again when there is a new primary.",
  },
  STORE_CROWDED: {
    status: 503,
    hint: "Raise max_connections, lower the poolSize of each process, or use a pooler.",
  },
  STORE_SCHEMA_FOREIGN: {
    status: 500,
    hint: "Name a schema of its own, for example with ?schema=jobs at the end of the URL.",
  },
  STORE_UNSUITABLE: { status: 500, hint: "Name a database in UTF8 on PostgreSQL 15 or newer." },
  STORE_MOVED: {
    status: 410,
    hint: "Use the URL of the database that the message names.",
  },
  STORE_INCOMPLETE: {
    status: 503,
    hint: "Run the same millrace copy again to finish it, or abandon it with --abandon.",
  },
  STORE_OCCUPIED: {
    status: 409,
    hint: "Name an empty database, or another schema with ?schema= at the end of the URL.",
  },
  STORE_OLDER: { status: 409, hint: "Run millrace migrate on the store first." },
  SERVER_UNREACHABLE: {
    status: 503,
    hint: "Start the server, or correct its URL in --server or MILLRACE_SERVER.",
  },
  SERVER_REFUSED: { status: 502, hint: "Read the message of the server." },
  STORE_CLOSED: { status: 500, hint: "Open the store before you use it, and close it last." },
  BACKUP_EXISTS: { status: 409, hint: "Name a file that does not exist yet." },
} as const;

/** The name of an error, the same in TypeScript, HTTP, CLI and docs. */
export type ErrorCode = keyof typeof CATALOGUE;

export interface MillraceErrorOptions {
  readonly cause?: unknown;
  /** Data for programs: the path, the option, the id. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The next step, if the hint of the code does not fit. */
  readonly hint?: string;
}

/**
 * The error that the library throws. `code` identifies the error, `message` names the object,
 * `hint` says what to do.
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
  // On the prototype, so that the first line of the stack has the name, and a subclass can set its
  // own.
  static {
    this.prototype.name = "MillraceError";
  }

  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  readonly hint: string;

  constructor(code: ErrorCode, message: string, options: MillraceErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.details = options.details ?? {};
    this.hint = options.hint ?? CATALOGUE[code].hint;
  }

  get status(): number {
    return CATALOGUE[this.code].status;
  }
}

// The four classes are recognised by the property "~class" and not by identity, because a worker of
// one installed copy of the library must understand the errors of another copy.

/**
 * Thrown by a handler when an external service failed temporarily. The job is retried after its
 * backoff.
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

  /** The external service that failed. */
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
 * Thrown by a handler when another attempt may succeed. The job is retried after its backoff.
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

  // Makes the message required, which it is not in Error.
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
  }

  get "~class"(): ErrorClass {
    return "retryable";
  }
}

/**
 * Thrown by a handler when no further attempt can succeed. The job fails at once and becomes a dead
 * letter.
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
 * Thrown by a handler when an external service limits its rate. The job is retried after
 * `retryAfter`, or after the longer backoff of this class. With a `service`, all jobs of types that
 * use the service wait until `retryAfter`; with `scope: "tenant"`, only those of the same tenant.
 *
 * A number is a duration in milliseconds; the header `Retry-After: 30` is `30_000` or `"30s"`. A
 * Date or an ISO string is the time of the retry.
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

  /** A duration or an instant; `Instant` includes the types of both. */
  readonly retryAfter: Instant | undefined;
  /** The external service that limits its rate. */
  readonly service: string | undefined;
  /** `tenant`: the limit holds for the tenant of the job alone. Default: for all jobs. */
  readonly scope: "tenant" | undefined;

  constructor(
    message: string,
    options: {
      cause?: unknown;
      retryAfter?: Instant;
      service?: string;
      scope?: "tenant" | undefined;
    } = {},
  ) {
    super(message, options);
    this.retryAfter = options.retryAfter;
    this.service = options.service;
    this.scope = options.scope;
  }

  get "~class"(): ErrorClass {
    return "rate_limited";
  }
}
