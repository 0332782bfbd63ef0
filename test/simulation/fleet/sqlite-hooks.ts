/**
 * Taps on `node:sqlite`: the simulation looks into each transaction of the store as it goes on, and
 * makes locks and disks fail where SQLite itself would report it.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";

export interface SqliteHooks {
  /** A handle was used for the first time. */
  opened(database: DatabaseSync): void;
  /** May throw what SQLite would: somebody else holds the lock. */
  begin(database: DatabaseSync): void;
  /** May throw what SQLite would: the disk does not answer. */
  read(database: DatabaseSync): void;
  /** Somebody has said whether commits wait for the disk. */
  syncs(database: DatabaseSync): void;
  /** One piece of a group commit is through, and can be seen from inside. */
  piece(database: DatabaseSync): void;
  /** Carries out the commit, or does not. */
  commit(database: DatabaseSync, run: () => unknown): unknown;
  /** Everything since the begin is undone. */
  rolledBack(database: DatabaseSync): void;
}

/** An error as SQLite's binding throws it. */
export function sqliteError(errcode: number, message: string): Error {
  return Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });
}

/** The real one: what the simulation itself reads goes past the hooks. */
export function plainPrepare(database: DatabaseSync, text: string): StatementSync {
  const statement: StatementSync = Reflect.apply(plain.prepare, database, [text]);
  return statement;
}

export function plainExec(database: DatabaseSync, text: string): void {
  Reflect.apply(plain.exec, database, [text]);
}

const plain = methodsOf(DatabaseSync.prototype);

function methodsOf(prototype: DatabaseSync): Pick<DatabaseSync, "prepare" | "exec"> {
  return { prepare: Reflect.get(prototype, "prepare"), exec: Reflect.get(prototype, "exec") };
}

/** Answers how to remove the hooks. */
export function installHooks(hooks: SqliteHooks): () => void {
  const known = new WeakSet<DatabaseSync>();
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, text: string, ...rest: any[]) {
    if (!known.has(this)) hooks.opened(this);
    known.add(this);
    const statement = Reflect.apply(plain.prepare, this, [text, ...rest]);
    const around = hookOf(hooks, this, text);
    if (around === null) return statement;
    const run = statement.run.bind(statement);
    Reflect.set(statement, "run", () => around(run));
    return statement;
  };
  DatabaseSync.prototype.exec = function (this: DatabaseSync, text: string) {
    if (text === "BEGIN") hooks.read(this);
    Reflect.apply(plain.exec, this, [text]);
    if (text === "ROLLBACK") hooks.rolledBack(this);
    if (text.includes("synchronous")) hooks.syncs(this);
  };
  return () => Object.assign(DatabaseSync.prototype, plain);
}

function hookOf(
  hooks: SqliteHooks,
  database: DatabaseSync,
  text: string,
): ((run: () => unknown) => unknown) | null {
  switch (text) {
    case "BEGIN IMMEDIATE":
      return (run) => {
        hooks.begin(database);
        return run();
      };
    case "RELEASE piece":
      return (run) => {
        const answer = run();
        hooks.piece(database);
        return answer;
      };
    case "COMMIT":
      return (run) => hooks.commit(database, run);
    default:
      return null;
  }
}
