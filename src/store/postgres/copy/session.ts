/** The connections of a copy to its target, with a longer time-out than the store's. */
import { SYNC_COMMIT } from "../database/connection-settings.ts";
import { storeError } from "../database/errors.ts";
import { send, type PgClient, type Pool, type Received } from "../database/pool.ts";
import { inSchema } from "../database/statements.ts";
import { types } from "../database/values.ts";

/** Batches of a copy are larger than the store's, and the disk may be slow. */
const ANSWER_MS_MAX = 300_000;

/** A copy reads and compares between two statements. */
const NO_IDLE_LIMIT = "SET LOCAL idle_in_transaction_session_timeout = 0";

/** Sends one statement. `millrace.` is replaced by the schema. */
export type SendQuery = (text: string, values?: readonly unknown[]) => Promise<Received>;

/** A transaction that stays open until `end`, and is rolled back. */
interface OpenTransaction {
  readonly ask: SendQuery;
  end(): Promise<void>;
}

interface CopySessionOptions {
  readonly pool: Pool;
  readonly schema: string;
  /** For messages, without a password. */
  readonly place: string;
}

export class CopySession {
  readonly #options: CopySessionOptions;

  constructor(options: CopySessionOptions) {
    this.#options = options;
  }

  readonly ask: SendQuery = (text, values) =>
    this.#withConnection((client) => this.#askOn(client)(text, values));

  /** `sync: "off"` does not wait for the disk: rows lost in a crash are copied again. */
  async transaction(sync: "on" | "off", work: (ask: SendQuery) => Promise<void>): Promise<void> {
    const mode = "BEGIN ISOLATION LEVEL READ COMMITTED";
    const commits = sync === "off" ? "SET LOCAL synchronous_commit = off" : SYNC_COMMIT;
    const settings = `${NO_IDLE_LIMIT}; ${commits}; SET LOCAL millrace_copy.writes = 'yes'`;
    await this.#withConnection(async (client) => {
      const ask = this.#askOn(client);
      await ask(`${mode}; ${settings}`);
      try {
        await work(ask);
      } catch (error) {
        await ask("ROLLBACK").catch(() => {});
        throw error;
      }
      await ask("COMMIT");
    });
  }

  async open(begin: string): Promise<OpenTransaction> {
    const ready = Promise.withResolvers<PgClient>();
    const ended = Promise.withResolvers<void>();
    const transaction = this.#withConnection(async (client) => {
      const ask = this.#askOn(client);
      await ask(`${begin}; ${NO_IDLE_LIMIT}`);
      ready.resolve(client);
      await ended.promise;
      await ask("ROLLBACK");
    });
    transaction.catch(ready.reject);
    const client = await ready.promise;
    return {
      ask: this.#askOn(client),
      end: async () => {
        ended.resolve();
        // The connection is released in any case; an earlier error was thrown by `ask`.
        await transaction.catch(() => {});
      },
    };
  }

  #askOn(client: PgClient): SendQuery {
    return async (text, values) => {
      const sent = { text: inSchema(text, this.#options.schema), types };
      // A text with several statements cannot have parameters.
      const given = values === undefined ? sent : { ...sent, values };
      try {
        return await send(client, { ...given, query_timeout: ANSWER_MS_MAX });
      } catch (error) {
        throw storeError(error, this.#options.place);
      }
    };
  }

  async #withConnection<Answer>(work: (client: PgClient) => Promise<Answer>): Promise<Answer> {
    try {
      return await this.#options.pool.withConnection(work);
    } catch (error) {
      throw storeError(error, this.#options.place);
    }
  }
}
