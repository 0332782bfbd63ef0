/**
 * A pool of connections, each acquired for one statement or one transaction and released at once.
 *
 * Connections have no session state: no SET beyond a transaction, no named statement, no lock, no
 * LISTEN. So a pooler in transaction mode may be in between. Every wait is bounded: for a
 * connection, and for the answer to each statement, measured by the client and not by the server.
 * A connection that does not answer in time may be half open, and a connection to a read-only
 * server leads to the wrong server. Such a connection is closed, and so are all connections without
 * an answer since then: they would fail one after the other.
 */
import { within } from "../../../core/clock.ts";
import { MillraceError } from "../../../core/errors.ts";
import { systemClock } from "../../../lib/system.ts";
import { hasEnded, type ConnectionOptions } from "./callers-pool.ts";
import { failureOf, isAnswerTimeout, NotConnected, breaksConnection } from "./errors.ts";
import { cancelStatement } from "./cancel-statement.ts";
import { ANSWER_MS } from "./statement-timeouts.ts";

/** Time-outs for opening and for acquiring a connection; a caller's pool may have none. */
const CONNECT_MS_MAX = 5_000;
const ACQUIRE_MS_MAX = 6_000;
/** Idle time after which the operating system probes a connection. */
const KEEP_ALIVE_MS = 10_000;
/** Time-out for closing the connections. */
const END_MS_MAX = 3_000;
const POOL_SIZE = 10;

/** One statement, as the driver expects it. */
export interface Sent {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly rowMode?: "array";
  readonly types?: { getTypeParser(oid: number): (text: string) => unknown };
  readonly query_timeout?: number;
}

export interface Received {
  readonly rows: any[];
  readonly rowCount: number | null;
}

/** The part of `pg.PoolClient` that is used. */
export interface PgClient {
  query(sent: any): Promise<Received>;
  release(destroy?: boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** The part of `pg.Pool` that is used. */
export interface PgPool {
  connect(): Promise<PgClient>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "acquire", listener: (client: any) => void): unknown;
  off(event: "error" | "acquire", listener: (subject: any) => void): unknown;
}

export interface PoolOptions {
  readonly url?: string | undefined;
  /** Instead of a URL. */
  readonly connection?: ConnectionOptions | undefined;
  readonly pool?: PgPool | undefined;
  readonly poolSize?: number | undefined;
}

/** What is known about a connection. Several stores may share a caller's pool. */
interface Connection {
  /** When the connection last answered, as far as stores know. */
  answeredAt: number;
  /** How often the connection was acquired, and how often by a store. */
  acquired: number;
  acquiredByStores: number;
}

const connections = new WeakMap<PgClient, Connection>();
/** How many stores use each pool: they share its listeners. */
const users = new WeakMap<PgPool, number>();

export class Pool {
  readonly #pool: PgPool;
  readonly #isOwn: boolean;
  /** The pool has refused the last connection, because the application has ended the pool. */
  #hasRefused = false;
  /** Connections without an answer since then are closed instead of used. */
  #trustedSince = -Infinity;

  private constructor(pool: PgPool, isOwn: boolean) {
    this.#pool = pool;
    this.#isOwn = isOwn;
    listen(pool);
  }

  /** Wraps the caller's pool, or creates one. Connects on first use. */
  static async make(options: PoolOptions): Promise<Pool> {
    const {
      url = "",
      connection = { connectionString: url },
      pool,
      poolSize = POOL_SIZE,
    } = options;
    if (pool !== undefined) return new Pool(pool, false);
    const pg = await importDriver();
    return new Pool(makePool(pg, connection, poolSize), true);
  }

  /** Runs `work` with a connection and releases it. */
  async withConnection<Answer>(work: (client: PgClient) => Promise<Answer>): Promise<Answer> {
    const client = await this.#connect();
    const startedAt = systemClock.monotonic();
    let isBroken = false;
    try {
      return await work(client);
    } catch (error) {
      isBroken = breaksConnection(error);
      if (isAnswerTimeout(error)) cancelStatement(client);
      if (isAnswerTimeout(error) || failureOf(error) === "read-only")
        this.#trustedSince = startedAt;
      throw error;
    } finally {
      known(client).answeredAt = systemClock.monotonic();
      client.release(isBroken);
    }
  }

  /** The application has ended its pool: no connection will be available again. */
  get hasEnded(): boolean {
    return !this.#isOwn && (this.#hasRefused || hasEnded(this.#pool));
  }

  /** Closes an own pool. A caller's pool stays open. */
  async end(): Promise<void> {
    if (this.#isOwn) {
      // Connections may break while they close, so the listeners stay. A half-open connection
      // never reports that it is closed.
      await within(systemClock, END_MS_MAX, this.#pool.end());
      return;
    }
    stopListening(this.#pool);
  }

  async #connect(): Promise<PgClient> {
    try {
      for (;;) {
        const client = await withTimeout(this.#pool.connect());
        // A wrapper may have replaced the pool that it wraps.
        this.#hasRefused = false;
        const connection = known(client);
        connection.acquiredByStores += 1;
        if (connection.answeredAt >= this.#trustedSince) return client;
        client.release(true);
      }
    } catch (error) {
      // A pool that wraps a pool of `pg` may not tell by itself that it has ended.
      this.#hasRefused ||= error instanceof Error && error.message.startsWith(ENDED_MESSAGE);
      throw this.hasEnded ? poolEnded() : new NotConnected(error);
    }
  }
}

/** The driver's message for the use of a pool that has ended. */
const ENDED_MESSAGE = "Cannot use a pool after calling end";

export function poolEnded(): MillraceError {
  const message =
    "the application has ended its pool. Stop the workers and close the mill before pool.end()";
  return new MillraceError("STORE_CLOSED", message);
}

/**
 * How often others than stores, such as the application, have acquired a connection since a store
 * listens. Null: the pool does not tell.
 */
export function otherUses(client: PgClient): number | null {
  const { acquired, acquiredByStores } = known(client);
  return acquired < acquiredByStores ? null : acquired - acquiredByStores;
}

/**
 * Without an error listener, a broken connection would end the process, idle or not. The listener
 * is added on acquire: a new connection may break with the packet that opens it.
 */
function listen(pool: PgPool): void {
  const count = users.get(pool) ?? 0;
  users.set(pool, count + 1);
  if (count > 0) return;
  pool.on("error", ignore);
  pool.on("acquire", onAcquire);
}

function stopListening(pool: PgPool): void {
  const count = (users.get(pool) ?? 1) - 1;
  users.set(pool, count);
  if (count > 0) return;
  pool.off("error", ignore);
  pool.off("acquire", onAcquire);
}

function onAcquire(client: PgClient): void {
  known(client).acquired += 1;
}

/** A new connection gets an error listener. */
function known(client: PgClient): Connection {
  const found = connections.get(client);
  if (found !== undefined) return found;
  const made = { answeredAt: systemClock.monotonic(), acquired: 0, acquiredByStores: 0 };
  connections.set(client, made);
  client.on("error", ignore);
  return made;
}

/** A connection that arrives after the time-out is released at once. */
async function withTimeout(connecting: Promise<PgClient>): Promise<PgClient> {
  const connected: PgClient[] = [];
  const arrival = connecting.then((client) => connected.push(client));
  await within(systemClock, ACQUIRE_MS_MAX, arrival);
  const [client] = connected;
  if (client !== undefined) return client;
  connecting.then((late) => late.release(), ignore);
  throw new Error(`timeout exceeded after ${ACQUIRE_MS_MAX / 1000} seconds`);
}

/** Sends one statement. The wait for its answer is bounded. */
export function send(client: Pick<PgClient, "query">, sent: Sent): Promise<Received> {
  return client.query({ query_timeout: ANSWER_MS, ...sent });
}

type Driver = (typeof import("pg"))["default"];

async function importDriver(): Promise<Driver> {
  try {
    const { default: pg } = await import("pg");
    return pg;
  } catch (cause) {
    throw driverError(cause);
  }
}

/** Only a package that is not found has to be installed. */
export function driverError(cause: unknown): MillraceError {
  const isMissing =
    cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND";
  const message = isMissing
    ? 'postgresStore needs the package "pg": npm i pg'
    : `the package "pg" cannot be loaded: ${String(cause)}`;
  return new MillraceError("OPTION_INVALID", message, { cause });
}

function makePool(pg: Driver, connection: ConnectionOptions, poolSize: number): PgPool {
  try {
    // A pool parses the URL only when it connects; a client parses it at once.
    if ("connectionString" in connection) void new pg.Client(connection);
    return new pg.Pool({
      ...connection,
      max: poolSize,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      allowExitOnIdle: true,
      application_name: "millrace",
    });
  } catch {
    // The driver's error may contain the URL and its password.
    throw new MillraceError("OPTION_INVALID", "the url of the database cannot be parsed");
  }
}

function ignore(): void {}
