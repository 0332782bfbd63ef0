/** `millrace/sqlite`: the embedded store. */
import type { Store } from "../store.ts";
import { makeSqliteStore, type SqliteOptions } from "./create.ts";

export type { SqliteOptions } from "./create.ts";

/**
 * A store in one SQLite file, durable by itself: WAL, `synchronous=FULL`, readable only by its
 * owner. Several processes on the same machine may use the same file at once; a network drive will
 * not do.
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
