/** How a copy speaks with its target. Larger answers are waited for than those of the engine. */
import { storeError } from "../database/errors.ts";
import { send, type PgClient, type Pool, type Received } from "../database/pool.ts";
import { inSchema } from "../database/statements.ts";
import { types } from "../database/values.ts";

/** A batch is larger than what the engine sends, and the disk may be slow. */
const ANSWER_MS_MAX = 300_000;

/** Sends one statement. `millrace.` stands for the schema. */
export type SendQuery = (text: string, values?: readonly unknown[]) => Promise<Received>;

/** A transaction that stays open, and changes nothing. */
interface OpenTransaction {
  readonly ask: SendQuery;
  end(): Promise<void>;
}

interface CopySessionOptions {
  readonly pool: Pool;
  readonly schema: string;
  /** For people, without a password. */
  readonly place: string;
}

export class CopySession {
  readonly #options: CopySessionOptions;

  constructor(options: CopySessionOptions) {
    this.#options = options;
  }

  readonly ask: SendQuery = (text, values) =>
    this.#lend((client) => this.#askOn(client)(text, values));

  /** `sync: "off"` does not wait for the disk: what is lost with the power is copied again. */
  async transaction(sync: "on" | "off", work: (ask: SendQuery) => Promise<void>): Promise<void> {
    const mode = "BEGIN ISOLATION LEVEL READ COMMITTED";
    const settings = `synchronous_commit = ${sync}; SET LOCAL millrace_copy.writes = 'yes'`;
    await this.#lend(async (client) => {
      const ask = this.#askOn(client);
      await ask(`${mode}; SET LOCAL ${settings}`);
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
    const over = Promise.withResolvers<void>();
    const lending = this.#lend(async (client) => {
      const ask = this.#askOn(client);
      await ask(begin);
      ready.resolve(client);
      await over.promise;
      await ask("ROLLBACK");
    });
    lending.catch(ready.reject);
    const client = await ready.promise;
    return {
      ask: this.#askOn(client),
      end: async () => {
        over.resolve();
        // It is over in any case; what went wrong before has been told.
        await lending.catch(() => {});
      },
    };
  }

  #askOn(client: PgClient): SendQuery {
    return async (text, values) => {
      const sent = { text: inSchema(text, this.#options.schema), types };
      // A text of several statements takes no values.
      const given = values === undefined ? sent : { ...sent, values };
      try {
        return await send(client, { ...given, query_timeout: ANSWER_MS_MAX });
      } catch (error) {
        throw storeError(error, this.#options.place);
      }
    };
  }

  async #lend<Answer>(work: (client: PgClient) => Promise<Answer>): Promise<Answer> {
    try {
      return await this.#options.pool.withConnection(work);
    } catch (error) {
      throw storeError(error, this.#options.place);
    }
  }
}
