/**
 * Makes the embedded store. Unlike the public `sqliteStore`, the result has all verbs, and clock
 * and dice can be replaced.
 */
import { resolve } from "node:path";
import type { Clock, Dice } from "../../core/clock.ts";
import { MillraceError } from "../../core/errors.ts";
import { shown } from "../../core/text.ts";
import { systemClock, systemDice } from "../../lib/system.ts";
import type { ThreadEntry } from "../types/jobs-and-runs.ts";
import { SqliteJobStore } from "./store.ts";
import { THREAD_MODULE } from "./thread-store.ts";

export { migrationScripts } from "./database/migrate.ts";
export { migrations } from "./database/migrations.gen.ts";

/** What `sqliteStore` takes. */
export interface SqliteOptions {
  /**
   * The database file, which is created if it does not exist. `:memory:`: a database in memory.
   */
  readonly path: string;
  /**
   * Allows a file that already holds the tables of another application. Default: such a file is
   * refused. In this process the other application must use `node:sqlite`, too: a library with its
   * own copy of SQLite, such as better-sqlite3, does not see the locks, and commits would be lost.
   */
  readonly shared?: boolean;
}

/** Clock and dice, which tests and simulations replace. */
export interface SqlitePorts {
  readonly clock?: Clock;
  readonly dice?: Dice;
}

/** Checks the options and makes a store that is not open yet. */
export function makeSqliteStore(options: SqliteOptions, ports: SqlitePorts = {}): SqliteJobStore {
  checkOptions(options);
  return new SqliteJobStore({
    path: options.path,
    shared: options.shared ?? false,
    clock: ports.clock ?? systemClock,
    dice: ports.dice ?? systemDice,
    // A replaced clock decides alone when something happens.
    watchesLog: canBeShared(options, ports),
    // Another thread can use neither a database in memory nor a replaced clock.
    thread: canBeShared(options, ports) ? threadEntry(options) : null,
  });
}

/** The thread opens the file later, perhaps after a change of the working directory. */
function threadEntry({ path }: SqliteOptions): ThreadEntry {
  return { module: THREAD_MODULE, options: { path: resolve(path) } };
}

function canBeShared({ path }: SqliteOptions, { clock }: SqlitePorts): boolean {
  return path !== ":memory:" && clock === undefined;
}

function checkOptions(options: SqliteOptions): void {
  const known = ["path", "shared"];
  if (typeof options !== "object" || options === null) {
    throw invalid(`sqliteStore takes { path }, not ${shown(options)}`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw invalid(`sqliteStore has no option "${unknown}"; the options are ${known.join(" and ")}`);
  }
  if (typeof options.path !== "string" || options.path === "") {
    throw invalid(`path must be a file name such as "./millrace.db", not ${shown(options.path)}`);
  }
  if (options.path.startsWith("file:")) {
    throw invalid(`path must be a plain file name, not the address ${shown(options.path)}`);
  }
  if (options.shared !== undefined && typeof options.shared !== "boolean") {
    throw invalid(`shared must be true or false, not ${shown(options.shared)}`);
  }
}

function invalid(message: string): MillraceError {
  return new MillraceError("OPTION_INVALID", message);
}
