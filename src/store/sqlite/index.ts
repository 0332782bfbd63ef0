/** `millrace/sqlite`: the embedded store. */
// oxlint-disable-next-line import/no-unassigned-import -- It throws on an old Node.
import "../../lib/require-node.ts";
import type { Store } from "../store.ts";
import { makeSqliteStore, type SqliteOptions } from "./create.ts";

export type { SqliteOptions } from "./create.ts";

/**
 * Makes a store in one SQLite file. The file is in WAL mode with `synchronous=FULL` and readable
 * only by its owner. Several processes on one machine may use the same file. The file must not be
 * on a network drive.
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
