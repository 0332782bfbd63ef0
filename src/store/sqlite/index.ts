/** `millrace/sqlite`: the embedded store. */
import type { Store } from "../store.ts";
import { makeSqliteStore, type SqliteOptions } from "./create.ts";

export type { SqliteOptions } from "./create.ts";

/**
 * A store in one SQLite file. Commits are durable (WAL, `synchronous=FULL`), and only the owner can
 * read the file. Several processes on one machine may use the same file at the same time. A network
 * drive is not supported.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { sqliteStore } from "millrace/sqlite";
 *
 * const store = sqliteStore({ path: ":memory:" });
 * assert.equal(store["~store"], true);
 * ```
 */
export function sqliteStore(options: SqliteOptions): Store {
  return makeSqliteStore(options);
}
