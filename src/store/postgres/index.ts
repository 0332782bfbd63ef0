/** `millrace/postgres`: the store on PostgreSQL. */
// oxlint-disable-next-line import/no-unassigned-import -- It throws on an old Node.
import "../../lib/require-node.ts";
import type { Store } from "../store.ts";
import { makePostgresStore, type PostgresOptions } from "./create.ts";

export { fromDrizzle, type DrizzleTransaction } from "./transactions/drizzle.ts";
export type { PostgresOptions } from "./create.ts";
export type { PgClient, PgPool } from "./database/pool.ts";

/**
 * Makes a store in a schema of its own in a PostgreSQL database (15 or newer), for any number of
 * processes and machines. Opening the store creates and migrates the schema. The package `pg` must
 * be installed. The store uses no session state and works through a pooler in transaction mode.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { postgresStore } from "millrace/postgres";
 *
 * const store = postgresStore({ url: "postgres://localhost/app", schema: "millrace" });
 * assert.equal(store["~store"], true);
 * ```
 */
export function postgresStore(options: PostgresOptions): Store {
  return makePostgresStore(options);
}
