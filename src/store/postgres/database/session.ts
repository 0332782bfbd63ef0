/** What every verb works with: statements, transactions, names, clock and dice. */
import type { Clock, Dice } from "../../../core/clock.ts";
import type { OperatorWarnings } from "../../shared/operator-warnings.ts";
import { DependencyTasks, type DependencyTask } from "../queue/dependency-tasks.ts";
import { cancelStatement } from "./cancel-statement.ts";
import { KnownSettings, SYNC_COMMIT } from "./connection-settings.ts";
import { breaksConnection, isUncertain, NotRolledBack, UncertainWrite } from "./errors.ts";
import type { HeartbeatConnection } from "./heartbeat-connection.ts";
import { InternedNames } from "./interned-names.ts";
import { send, type PgClient, type Pool, type Received } from "./pool.ts";
import { retrying } from "./retry.ts";
import { asTenant, readingFor, readsForTenant } from "./tenant-reads.ts";
import { Statements, type QueryName, type Sql, type SqlAccess } from "./statements.ts";
import { inSavepoint, Outbox } from "../events/outbox.ts";
import type { OverQuota } from "../jobs/quota-book.ts";
import type { SessionState } from "./session-state.ts";
import type { Notifier } from "../events/notifier.ts";

/** Default lock time-out of a transaction. */
const LOCK_MS = 7_000;
/** The server releases the locks of an interrupted transaction after this time. */
const IDLE_MS_MAX = 10_000;

/** A day: no call of a function takes longer. */
const CALL_MS_MAX = 86_400_000;

/** Instead of the limit of the role, which may be shorter than a turn of a busy event loop. */
export const IDLE_LIMIT: string = `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS_MAX}`;
/** Begins a transaction that writes. */
export const BEGIN: string = `BEGIN ISOLATION LEVEL READ COMMITTED; ${IDLE_LIMIT}; ${SYNC_COMMIT}`;
const BEGIN_READING = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${IDLE_LIMIT}`;
/** Hot statements that call `sync_commit` themselves: one round trip under all settings. */
const SYNCS: ReadonlySet<QueryName> = new Set([
  "claim",
  "enqueue",
  "enqueue_alike",
  "settle_done",
  "start_runs",
]);

/** Statements and outbox for writing jobs, in a transaction of the store or of a caller. */
export interface JobWriter extends Sql {
  /** Events, wake-up and dependency task of the transaction. */
  readonly outbox: Outbox;
  readonly warnings: OperatorWarnings;
  /**
   * The jobs come from a producer, which a store for newer releases refuses, and a closed intake
   * too. The children of a run are accepted, so that a worker of an older release can end its runs.
   */
  readonly isProducer?: true;
  /** The newest quota by which a producer's jobs were admitted, and the jobs that were not. */
  readonly quotas?: number;
  readonly overQuota?: OverQuota;
}

/** One transaction in progress. */
export interface StoreTransaction extends JobWriter {
  /**
   * Runs `work` in a savepoint. When the database refuses a value, the savepoint is rolled back,
   * with its events, and `refused` answers instead.
   */
  savepoint<Answer>(
    work: () => Promise<Answer>,
    refused: (error: unknown) => Answer,
  ): Promise<Answer>;
}

interface SessionOptions {
  readonly pool: Pool;
  readonly heartbeatConnection: HeartbeatConnection | null;
  readonly schema: string;
  readonly access: SqlAccess;
  /** Null: the server's clock decides. Tests bring their own. */
  readonly clock: Clock | null;
  readonly dice: Dice;
  readonly notifier: Notifier;
  readonly warnings: OperatorWarnings;
  readonly runDependencyTask: (session: Session, task: DependencyTask) => Promise<void>;
  readonly newState: (session: Session) => SessionState;
}

export class Session {
  /** Runs one reading statement. When the connection is lost, the statement is sent again. */
  readonly read: Sql;
  /** Runs one writing statement. When its answer is lost, throws {@link UncertainWrite}. */
  readonly write: Sql;
  /** The same on the connection of the heartbeat, without retries. Null: there is none. */
  readonly heartbeat: Sql | null;
  readonly heartbeatConnection: HeartbeatConnection | null;
  readonly names: InternedNames;
  readonly dice: Dice;
  readonly pool: Pool;
  readonly schema: string;
  readonly access: SqlAccess;
  readonly clock: Clock | null;
  readonly notifier: Notifier;
  readonly warnings: OperatorWarnings;
  /** Tasks in the background after commits. */
  readonly dependencyTasks: DependencyTasks;
  /** What verbs keep between calls. */
  readonly state: SessionState;
  readonly #statements: Statements;
  readonly #settings = new KnownSettings();

  constructor(options: SessionOptions) {
    const { pool, schema, access, clock, dice, notifier, runDependencyTask } = options;
    const now = (): string | null => (clock === null ? null : new Date(clock.now()).toISOString());
    this.#statements = new Statements({ schema, access, now });
    this.pool = pool;
    this.schema = schema;
    this.access = access;
    this.clock = clock;
    this.dice = dice;
    this.notifier = notifier;
    this.warnings = options.warnings;
    this.read = this.#statements.through(
      (work) => retrying(dice, () => pool.withConnection((client) => readOn(client, work))),
      { isForTenant: readsForTenant },
    );
    this.write = this.#statements.through((work, name) =>
      retrying(dice, () => pool.withConnection((client) => this.#writeOn(client, name, work))),
    );
    this.heartbeat = this.#heartbeatOn(options.heartbeatConnection);
    this.heartbeatConnection = options.heartbeatConnection;
    this.names = new InternedNames(dice, this.read, this.write);
    this.state = options.newState(this);
    this.dependencyTasks = new DependencyTasks((task) => runDependencyTask(this, task));
  }

  /**
   * Runs `work` from BEGIN to COMMIT, then publishes its wake-up and adds its dependency task.
   * After a transient failure, such as a deadlock, `work` runs again, so it must not have side
   * effects outside. `lockMs` bounds the wait for each lock; beyond it, the failure is `locked`.
   */
  async transaction<Answer>(
    work: (transaction: StoreTransaction) => Promise<Answer>,
    { lockMs = LOCK_MS }: { readonly lockMs?: number } = {},
  ): Promise<Answer> {
    const begin = `${BEGIN}; SET LOCAL lock_timeout = ${Math.round(lockMs)}`;
    const { answer, outbox } = await retrying(this.dice, () =>
      this.pool.withConnection(async (client) => {
        const transaction = this.#transactionOn(client, lockMs);
        const done = await inTransaction(client, begin, async () => {
          const result = await work(transaction);
          await transaction.outbox.write(transaction);
          return result;
        });
        return { answer: done, outbox: transaction.outbox };
      }),
    );
    if (outbox.hasReturned) this.state.claimCursors?.jobsReturned();
    if (outbox.wakeUp !== null) this.notifier.wake(outbox.wakeUp);
    if (outbox.dependencyTask !== null) this.dependencyTasks.add(outbox.dependencyTask);
    return answer;
  }

  /**
   * A transaction that may take long, because code of the application runs in it. The server ends
   * a statement at the limit, and an abort cancels it.
   */
  async call<Answer>(
    work: (sql: Sql, client: PgClient) => Promise<Answer>,
    {
      limitMs,
      signal,
    }: { readonly limitMs: number | null; readonly signal?: AbortSignal | undefined },
  ): Promise<Answer> {
    const limit = Math.min(Math.ceil(limitMs ?? CALL_MS_MAX), CALL_MS_MAX);
    const begin = `${BEGIN}; SET LOCAL statement_timeout = ${limit}`;
    return retrying(this.dice, () =>
      this.pool.withConnection(async (client) => {
        const sql = this.#statements.through((run) => run(client), { lockMs: limit });
        const cancel = (): void => cancelStatement(client);
        signal?.addEventListener("abort", cancel, { once: true });
        try {
          return await inTransaction(client, begin, () => work(sql, client));
        } finally {
          signal?.removeEventListener("abort", cancel);
        }
      }),
    );
  }

  /** Wakes workers for jobs that claims have passed: of a released lock or an opened gate. */
  wakeForReturned(wakeUp: "work" | "ready"): void {
    this.state.claimCursors?.jobsReturned();
    this.notifier.wake(wakeUp);
  }

  /** Runs several reads in one snapshot. */
  async snapshot<Answer>(work: (sql: Sql) => Promise<Answer>): Promise<Answer> {
    const isTenants = readsForTenant();
    return retrying(this.dice, () =>
      this.pool.withConnection(async (client) => {
        const isForTenant = (): boolean => isTenants;
        const sql = this.#statements.through((run) => run(client), { isForTenant });
        return readIn(client, BEGIN_READING, () => work(sql));
      }),
    );
  }

  /** Runs `work` in a transaction that is rolled back. */
  async dryRun<Answer>(work: (sql: Sql, client: PgClient) => Promise<Answer>): Promise<Answer> {
    return this.pool.withConnection(async (client) => {
      const sql = this.#statements.through((run) => run(client));
      return between(client, BEGIN, () => work(sql, client), "ROLLBACK");
    });
  }

  #heartbeatOn(connection: HeartbeatConnection | null): Sql | null {
    if (connection === null) return null;
    return this.#statements.through((work, name) =>
      connection.withConnection((client) => this.#writeOn(client, name, work)),
    );
  }

  /** One writing statement: in a transaction where the settings of the connection demand it. */
  async #writeOn(
    client: PgClient,
    name: QueryName,
    work: (client: PgClient) => Promise<Received>,
  ): Promise<Received> {
    const { readsCommitted, waitsForDisk } = await this.#settings.of(client);
    return readsCommitted && (waitsForDisk || SYNCS.has(name))
      ? orUncertain(() => work(client))
      : inTransaction(client, BEGIN, () => work(client));
  }

  #transactionOn(client: PgClient, lockMs: number): StoreTransaction {
    const sql = this.#statements.through((run) => run(client), { lockMs });
    const outbox = new Outbox();
    const { warnings } = this;
    return { ...sql, outbox, warnings, savepoint: (...args) => inSavepoint(sql, outbox, ...args) };
  }
}

/** One reading statement: in a transaction of its own if the call reads for a tenant. */
function readOn(
  client: PgClient,
  work: (client: PgClient) => Promise<Received>,
): Promise<Received> {
  if (!readsForTenant()) return work(client);
  return readIn(client, BEGIN_READING, () => work(client));
}

/** A transaction that reads: as the role of tenants, if the call reads for a tenant. */
function readIn<Answer>(
  client: PgClient,
  begin: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const tenant = readingFor();
  if (tenant === null) return between(client, begin, work, "COMMIT");
  return between(client, `${begin}; ${asTenant(tenant)}`, work, "COMMIT");
}

/** BEGIN, work, COMMIT. Only a connection lost at the COMMIT makes the outcome uncertain. */
export async function inTransaction<Answer>(
  client: PgClient,
  begin: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  return orRollBack(client, async () => {
    await send(client, { text: begin });
    const answer = await work();
    await orUncertain(() => send(client, { text: "COMMIT" }));
    return answer;
  });
}

/** The same for a transaction that writes nothing, so its end is never uncertain. */
export async function between<Answer>(
  client: PgClient,
  begin: string,
  work: () => Promise<Answer>,
  end: "COMMIT" | "ROLLBACK",
): Promise<Answer> {
  return orRollBack(client, async () => {
    await send(client, { text: begin });
    const answer = await work();
    await send(client, { text: end });
    return answer;
  });
}

/**
 * Covers BEGIN and COMMIT as well: a statement time-out or a cancel may strike in either, and the
 * transaction is open then. A connection that cannot roll back is closed, not released.
 */
async function orRollBack<Answer>(client: PgClient, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (breaksConnection(error)) throw error;
    try {
      await send(client, { text: "ROLLBACK" });
    } catch {
      throw new NotRolledBack(error);
    }
    throw error;
  }
}

async function orUncertain(work: () => Promise<Received>): Promise<Received> {
  try {
    return await work();
  } catch (error) {
    throw isUncertain(error) ? new UncertainWrite(error) : error;
  }
}
