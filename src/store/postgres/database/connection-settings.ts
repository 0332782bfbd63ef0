/**
 * The settings of a connection that change what a single writing statement does. They come from the
 * caller, the role, the database or the server, so they are read before the first write on a
 * connection. The application may change them on a connection of its pool, so they are read again
 * after the application has used the connection.
 */
import { otherUses, send, type PgClient } from "./pool.ts";

interface ConnectionSettings {
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

/** The settings of the connections that a store uses. */
export class KnownSettings {
  readonly #known = new WeakMap<PgClient, ConnectionSettings & { readonly otherUses: number }>();

  async of(client: PgClient): Promise<ConnectionSettings> {
    const uses = otherUses(client);
    const known = this.#known.get(client);
    if (known !== undefined && known.otherUses === uses) return known;
    const { rows } = await send(client, { text: SETTINGS });
    const settings = {
      readsCommitted: rows[0]?.isolation === "read committed",
      waitsForDisk: rows[0]?.commits !== "off",
    };
    if (uses !== null) this.#known.set(client, { ...settings, otherUses: uses });
    return settings;
  }
}
