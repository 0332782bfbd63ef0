/**
 * enqueue inside a caller's transaction: on the caller's own handle, which has the same file open.
 * The jobs are there if and when it commits; the store's connection then sees that the file has
 * changed, as it does after a commit of another process.
 *
 * Only a handle of `node:sqlite` will do. Any other library has a copy of SQLite of its own, and
 * two copies in one process do not see each other's locks: both would write at once, and a commit
 * that was acknowledged would be lost.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { MillraceError } from "../../../core/errors.ts";
import { shown } from "../../../core/text.ts";
import type { EnqueueAnswer, NewJob } from "../../types/jobs-and-runs.ts";
import { enqueue } from "../jobs/enqueue.ts";
import { storeError } from "../database/errors.ts";
import { InternedNames } from "../database/interned-names.ts";
import { identity } from "../database/file-identity.ts";
import type { Session } from "../database/session.ts";
import { newState } from "../database/session-state.ts";
import { Statements } from "../database/statements.ts";
import { Outbox } from "../events/outbox.ts";

interface Home extends Pick<Session, "clock" | "dice"> {
  /** The file of the store. */
  readonly path: string;
}

/** The answers stand in the order of the jobs. */
export function enqueueInTransaction(
  { path, clock, dice }: Home,
  tx: unknown,
  jobs: readonly NewJob[],
): readonly EnqueueAnswer[] {
  const database = openTransaction(tx, path);
  const sql = new Statements({ prepare: (text) => plainly(database.prepare(text)) });
  // New names and statements for each call: what was met in there may be undone at any time.
  const session = {
    sql,
    clock,
    dice,
    names: new InternedNames(sql),
    outbox: new Outbox(sql, clock),
    state: newState(),
  };
  try {
    database.exec("SAVEPOINT millrace_call");
    const answers = enqueue(session, jobs);
    session.outbox.write();
    database.exec("RELEASE millrace_call");
    return answers;
  } catch (error) {
    // SQLite may have ended the whole transaction by itself, as when the disk is full.
    if (database.isTransaction) {
      database.exec("ROLLBACK TO millrace_call");
      database.exec("RELEASE millrace_call");
    }
    throw storeError(error, path);
  }
}

/** Rows as the store reads them, whatever the handle was opened with. */
function plainly(statement: StatementSync): StatementSync {
  statement.setReadBigInts(false);
  statement.setReturnArrays(false);
  return statement;
}

function openTransaction(tx: unknown, path: string): DatabaseSync {
  if (path === ":memory:") {
    throw unusable("the store lies in memory, where no other handle reaches it");
  }
  if (!(tx instanceof DatabaseSync)) throw unusable(notOurs(tx));
  if (!tx.isOpen) throw unusable("its database is closed");
  const file = tx.location();
  const home = identity(path);
  if (file === null || home === null || identity(file) !== home) {
    throw unusable(`it is one of ${file ?? "a database in memory"}, and the jobs are in ${path}`);
  }
  if (!tx.isTransaction) {
    const late = "nothing is open on this handle, or it is over already";
    throw unusable(`${late}; begin with BEGIN IMMEDIATE, and await the enqueue before COMMIT`);
  }
  return tx;
}

function notOurs(tx: unknown): string {
  const isOther = typeof tx === "object" && tx !== null && "prepare" in tx;
  if (!isOther) return `the jobs are in a SQLite file, and this is ${shown(tx)}`;
  return (
    "it is not a DatabaseSync of node:sqlite; a library with a SQLite of its own, such as " +
    "better-sqlite3, must not have the same file open in one process: neither sees the other's " +
    "locks, and commits would be lost"
  );
}

function unusable(why: string): MillraceError {
  return new MillraceError("TX_INVALID", `tx cannot be used: ${why}`);
}
