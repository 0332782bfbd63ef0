/** What every verb works with: statements, transactions, names, time and chance. */
import type { Clock, Dice } from "../../core/clock.ts";
import { failureOf, isUncertain, UncertainWrite } from "./errors.ts";
import { Names } from "./names.ts";
import { send, type PgClient, type Pool, type Received } from "./pool.ts";
import { retrying } from "./retry.ts";
import { Statements, type Sql } from "./statements.ts";
import { Tidings } from "./tidings.ts";
import type { Watcher } from "./watcher.ts";

/** One transaction in progress. */
export interface Transaction extends Sql {
  /** What it has to tell, written and spread with its commit. */
  readonly tidings: Tidings;
  /**
   * Runs a part that may be undone by itself. When the database does not take a value in it, the
   * part alone is undone, with its words to the feed, and the answer is null.
   */
  part<Answer>(work: () => Promise<Answer>): Promise<Answer | null>;
}

interface SessionOptions {
  readonly pool: Pool;
  readonly schema: string;
  /** Null: the server's clock decides. Tests bring their own. */
  readonly clock: Clock | null;
  readonly dice: Dice;
  readonly watcher: Watcher;
}

export class Session {
  /** One statement that only reads: when the connection is lost, it is sent again. */
  readonly read: Sql;
  /** One statement that writes: when its answer is lost, {@link UncertainWrite} says so. */
  readonly write: Sql;
  readonly names: Names;
  readonly dice: Dice;
  readonly pool: Pool;
  readonly schema: string;
  readonly clock: Clock | null;
  readonly watcher: Watcher;
  readonly #statements: Statements;

  constructor({ pool, schema, clock, dice, watcher }: SessionOptions) {
    const now = (): string | null => (clock === null ? null : new Date(clock.now()).toISOString());
    this.#statements = new Statements(schema, now);
    this.pool = pool;
    this.schema = schema;
    this.clock = clock;
    this.dice = dice;
    this.watcher = watcher;
    this.read = this.#statements.through((work) => retrying(dice, () => pool.lend(work)));
    this.write = this.#statements.through((work) =>
      retrying(dice, () => pool.lend((client) => certainly(() => work(client)))),
    );
    this.names = new Names(dice, this.read, this.write);
  }

  /**
   * Runs `work` from BEGIN to COMMIT and spreads its tidings. What passes by itself, such as a
   * deadlock, makes it run anew, so it must not change anything outside. `lockMs` bounds the wait
   * for each lock; failing that, the error is `locked`.
   */
  async transaction<Answer>(
    work: (transaction: Transaction) => Promise<Answer>,
    { lockMs }: { readonly lockMs?: number } = {},
  ): Promise<Answer> {
    const limit = lockMs === undefined ? "" : `; SET LOCAL lock_timeout = ${Math.round(lockMs)}`;
    const begin = `BEGIN ISOLATION LEVEL READ COMMITTED${limit}`;
    const { answer, hint } = await retrying(this.dice, () =>
      this.pool.lend(async (client) => {
        const transaction = this.#transactionOn(client);
        const done = await bracket(client, begin, async () => {
          const result = await work(transaction);
          await transaction.tidings.write(transaction);
          return result;
        });
        return { answer: done, hint: transaction.tidings.hint };
      }),
    );
    if (hint !== null) this.watcher.wake(hint);
    return answer;
  }

  /** Several reads of one and the same moment. */
  async snapshot<Answer>(work: (sql: Sql) => Promise<Answer>): Promise<Answer> {
    return retrying(this.dice, () =>
      this.pool.lend(async (client) => {
        await send(client, { text: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" });
        const sql = this.#statements.through((run) => run(client));
        const answer = await undoing(client, () => work(sql));
        await send(client, { text: "COMMIT" });
        return answer;
      }),
    );
  }

  #transactionOn(client: PgClient): Transaction {
    const sql = this.#statements.through((run) => run(client));
    const tidings = new Tidings();
    return { ...sql, tidings, part: (work) => partOf(sql, tidings, work) };
  }
}

async function partOf<Answer>(
  sql: Sql,
  tidings: Tidings,
  work: () => Promise<Answer>,
): Promise<Answer | null> {
  const mark = tidings.mark();
  await sql.run("save_part", {});
  try {
    const answer = await work();
    await sql.run("keep_part", {});
    return answer;
  } catch (error) {
    if (failureOf(error) !== "refused") throw error;
    await sql.run("undo_part", {});
    await sql.run("keep_part", {});
    tidings.dropSince(mark);
    return null;
  }
}

/** BEGIN, work, COMMIT. Only a connection lost at the COMMIT leaves anything uncertain. */
async function bracket<Answer>(
  client: PgClient,
  begin: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  await send(client, { text: begin });
  const answer = await undoing(client, work);
  await certainly(() => send(client, { text: "COMMIT" }));
  return answer;
}

async function undoing<Answer>(client: PgClient, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (failureOf(error) !== "lost") await send(client, { text: "ROLLBACK" });
    throw error;
  }
}

async function certainly(work: () => Promise<Received>): Promise<Received> {
  try {
    return await work();
  } catch (error) {
    throw isUncertain(error) ? new UncertainWrite(error) : error;
  }
}
