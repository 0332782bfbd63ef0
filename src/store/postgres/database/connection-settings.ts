/**
 * The settings of a connection that change what a single writing statement does. They come from the
 * caller, the role, the database or the server, so they are read once per connection, before its
 * first write.
 */
import { send, type PgClient } from "./pool.ts";

export interface ConnectionSettings {
  /** A single statement runs in READ COMMITTED, the default of PostgreSQL. */
  readonly readsCommitted: boolean;
  /** A commit waits for the disk, unless its statement says otherwise. */
  readonly waitsForDisk: boolean;
}

/** Makes the commit of a transaction wait for the disk; a stricter setting stays as it is. */
export const SYNC_COMMIT: string =
  "SELECT set_config('synchronous_commit', 'on', true) " +
  "WHERE current_setting('synchronous_commit') = 'off'";

const SETTINGS = `SELECT current_setting('default_transaction_isolation') AS isolation,
                         current_setting('synchronous_commit') AS commits`;

/** Several stores may share a caller's pool. */
const known = new WeakMap<PgClient, ConnectionSettings>();

export async function settingsOf(client: PgClient): Promise<ConnectionSettings> {
  const before = known.get(client);
  if (before !== undefined) return before;
  const { rows } = await send(client, { text: SETTINGS });
  const settings = {
    readsCommitted: rows[0]?.isolation === "read committed",
    waitsForDisk: rows[0]?.commits !== "off",
  };
  known.set(client, settings);
  return settings;
}
