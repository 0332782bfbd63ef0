/**
 * enqueue inside a caller's transaction, on the caller's handle of the same file. The jobs exist if
 * and when the transaction commits. The notifier then detects the commit like one of another
 * process.
 *
 * Only a handle of `node:sqlite` is accepted. Any other library contains its own copy of SQLite,
 * and two copies in one process do not see each other's locks: both would write at the same time,
 * and an acknowledged commit would be lost.
 */
import { OperatorWarnings } from "../../shared/operator-warnings.ts";
import type { StatementSync } from "node:sqlite";
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
import { DatabaseSync } from "../database/node-sqlite.ts";

interface OwnStore extends Pick<Session, "clock" | "dice"> {
  /** The file of the store. */
  readonly path: string;
}

/** One answer per job, in the order given. */
export function enqueueInTransaction(
  { path, clock, dice }: OwnStore,
  tx: unknown,
  jobs: readonly NewJob[],
): readonly EnqueueAnswer[] {
  const database = openTransaction(tx, path);
  const sql = new Statements({ prepare: (text) => plainly(database.prepare(text)) });
  // No cache across calls: the caller may roll the transaction back at any time.
  const session = {
    sql,
    clock,
    dice,
    names: new InternedNames(sql),
    outbox: new Outbox(sql, clock),
    warnings: new OperatorWarnings(),
    state: newState(clock, () => {}),
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

/** Rows in the store's format, whatever options the handle was opened with. */
function plainly(statement: StatementSync): StatementSync {
  statement.setReadBigInts(false);
  statement.setReturnArrays(false);
  return statement;
}

function openTransaction(tx: unknown, path: string): DatabaseSync {
  if (path === ":memory:") {
    throw unusable("the store is in memory, which no other handle can open");
  }
  if (!(tx instanceof DatabaseSync)) throw unusable(notOurs(tx));
  if (!tx.isOpen) throw unusable("its database is closed");
  const file = tx.location();
  const home = identity(path);
  if (file === null || home === null || identity(file) !== home) {
    throw unusable(`it belongs to ${file ?? "a database in memory"}, and the jobs are in ${path}`);
  }
  if (!tx.isTransaction) {
    const late = "no transaction is open on this handle";
    throw unusable(`${late}; start it with BEGIN IMMEDIATE, and await the enqueue before COMMIT`);
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
