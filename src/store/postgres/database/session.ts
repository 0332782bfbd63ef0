/** What every verb works with: statements, transactions, names, time and chance. */
import type { Clock, Dice } from "../../../core/clock.ts";
import { DependencyTasks, type DependencyTask } from "../queue/dependency-tasks.ts";
import { failureOf, isUncertain, UncertainWrite } from "./errors.ts";
import { InternedNames } from "./interned-names.ts";
import { send, type PgClient, type Pool, type Received } from "./pool.ts";
import { retrying } from "./retry.ts";
import { Statements, type Sql } from "./statements.ts";
import { Outbox } from "../events/outbox.ts";
import type { Notifier } from "../events/notifier.ts";

/** How long a transaction that does not say so waits for each lock. */
const LOCK_MS = 7_000;
/** When the line breaks in the middle of a transaction, its locks are let go after so long. */
const IDLE_MS_MAX = 10_000;

const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED";
const LET_GO = `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS_MAX}`;

/** What jobs are written with, in a transaction of the store or of a caller. */
export interface JobWriter extends Sql {
  /** What it has to tell, written and spread with its commit. */
  readonly outbox: Outbox;
}

/** One transaction in progress. */
export interface SessionTransaction extends JobWriter {
  /**
   * Runs a part that may be undone by itself. When the database does not take a value in it, the
   * part alone is undone, with its words to the feed, and `refused` answers instead.
   */
  part<Answer>(work: () => Promise<Answer>, refused: (error: unknown) => Answer): Promise<Answer>;
}

interface SessionOptions {
  readonly pool: Pool;
  readonly schema: string;
  /** Null: the server's clock decides. Tests bring their own. */
  readonly clock: Clock | null;
  readonly dice: Dice;
  readonly notifier: Notifier;
  /** Whether a statement by itself sees what others have committed, as by default it does. */
  readonly readsCommitted: boolean;
  readonly runDependencyTask: (session: Session, dependencyTask: DependencyTask) => Promise<void>;
}

export class Session {
  /** One statement that only reads: when the connection is lost, it is sent again. */
  readonly read: Sql;
  /** One statement that writes: when its answer is lost, {@link UncertainWrite} says so. */
  readonly write: Sql;
  readonly names: InternedNames;
  readonly dice: Dice;
  readonly pool: Pool;
  readonly schema: string;
  readonly clock: Clock | null;
  readonly notifier: Notifier;
  /** What is done in the background after commits. */
  readonly dependencyTasks: DependencyTasks;
  readonly #statements: Statements;

  constructor(options: SessionOptions) {
    const { pool, schema, clock, dice, notifier, readsCommitted, runDependencyTask } = options;
    const now = (): string | null => (clock === null ? null : new Date(clock.now()).toISOString());
    this.#statements = new Statements(schema, now);
    this.pool = pool;
    this.schema = schema;
    this.clock = clock;
    this.dice = dice;
    this.notifier = notifier;
    this.read = this.#statements.through((work) => retrying(dice, () => pool.lend(work)));
    this.write = this.#statements.through((work) =>
      retrying(dice, () =>
        pool.lend((client) =>
          readsCommitted
            ? certainly(() => work(client))
            : bracket(client, BEGIN, () => work(client)),
        ),
      ),
    );
    this.names = new InternedNames(dice, this.read, this.write);
    this.dependencyTasks = new DependencyTasks((dependencyTask) =>
      runDependencyTask(this, dependencyTask),
    );
  }

  /**
   * Runs `work` from BEGIN to COMMIT, spreads its outbox and sees to what it has left to be done.
   * What passes by itself, such as a deadlock, makes it run anew, so it must not change anything
   * outside. `lockMs` bounds the wait for each lock; failing that, the error is `locked`.
   */
  async transaction<Answer>(
    work: (transaction: SessionTransaction) => Promise<Answer>,
    { lockMs = LOCK_MS }: { readonly lockMs?: number } = {},
  ): Promise<Answer> {
    const begin = `${BEGIN}; SET LOCAL lock_timeout = ${Math.round(lockMs)}; ${LET_GO}`;
    const { answer, outbox } = await retrying(this.dice, () =>
      this.pool.lend(async (client) => {
        const transaction = this.#transactionOn(client, lockMs);
        const done = await bracket(client, begin, async () => {
          const result = await work(transaction);
          await transaction.outbox.write(transaction);
          return result;
        });
        return { answer: done, outbox: transaction.outbox };
      }),
    );
    if (outbox.wakeUp !== null) this.notifier.wake(outbox.wakeUp);
    if (outbox.dependencyTask !== null) this.dependencyTasks.add(outbox.dependencyTask);
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

  /** Runs `work` in a transaction that leaves nothing behind. */
  async trial<Answer>(work: (sql: Sql, client: PgClient) => Promise<Answer>): Promise<Answer> {
    return this.pool.lend(async (client) => {
      await send(client, { text: BEGIN });
      const sql = this.#statements.through((run) => run(client));
      const answer = await undoing(client, () => work(sql, client));
      await send(client, { text: "ROLLBACK" });
      return answer;
    });
  }

  #transactionOn(client: PgClient, lockMs: number): SessionTransaction {
    const sql = this.#statements.through((run) => run(client), lockMs);
    const outbox = new Outbox();
    return { ...sql, outbox, part: (...part) => partOf(sql, outbox, ...part) };
  }
}

/** What a statement by itself sees: a user may have set another isolation for the database. */
export async function doesReadCommitted(pool: Pool): Promise<boolean> {
  const text = "SELECT current_setting('default_transaction_isolation') AS level";
  const { rows } = await pool.lend((client) => send(client, { text }));
  return rows[0]?.level === "read committed";
}

async function partOf<Answer>(
  sql: Sql,
  outbox: Outbox,
  work: () => Promise<Answer>,
  refused: (error: unknown) => Answer,
): Promise<Answer> {
  const mark = outbox.mark();
  await sql.run("save_part", {});
  try {
    const answer = await work();
    await sql.run("keep_part", {});
    return answer;
  } catch (error) {
    if (failureOf(error) !== "refused") throw error;
    await sql.run("undo_part", {});
    await sql.run("keep_part", {});
    outbox.dropSince(mark);
    return refused(error);
  }
}

/** BEGIN, work, COMMIT. Only a connection lost at the COMMIT leaves anything uncertain. */
export async function bracket<Answer>(
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
