/**
 * Connections, borrowed for one statement or one transaction and given back at once.
 *
 * No session ever keeps a state: no SET beyond a transaction, no named statement, no lock, no
 * LISTEN. So a pooler in transaction mode may stand in between. Every wait has an end: for a
 * connection, and for the answer to each statement, measured here and not by the server. A
 * connection that does not answer in time may be half open, and one that meets a server without
 * writes leads to the wrong one. It is given up, and so are all others that have not been heard on
 * since: they would fail one after the other.
 */
import { within } from "../../../core/clock.ts";
import { MillraceError } from "../../../core/errors.ts";
import { systemClock } from "../../../lib/system.ts";
import { failureOf, isAnswerTimeout, NotConnected, breaksConnection } from "./errors.ts";
import { cancelStatement } from "./cancel-statement.ts";
import { ANSWER_MS } from "./statement-timeouts.ts";

/** How long a connection is waited for; a caller's pool may have no limit of its own. */
const CONNECT_MS_MAX = 5_000;
const LEND_MS_MAX = 6_000;
/** A connection that is silent for so long is probed by the system. */
const KEEP_ALIVE_MS = 10_000;
/** How long the connections may take to say goodbye. */
const END_MS_MAX = 3_000;
const POOL_SIZE = 10;

/** One statement, as the driver takes it. */
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
  readonly pool?: PgPool | undefined;
  readonly poolSize?: number | undefined;
}

/** Connections that have their listener: several stores may share a caller's pool. */
const guarded = new WeakSet<PgClient>();

export class Pool {
  readonly #pool: PgPool;
  readonly #isOwn: boolean;
  /** When each connection was last heard on. */
  readonly #heardAt = new WeakMap<PgClient, number>();
  /** Connections that were not heard on since then are not lent again. */
  #trustedSince = -Infinity;
  readonly #guard = (client: PgClient): void => {
    if (this.#heardAt.has(client)) return;
    this.#heardAt.set(client, systemClock.monotonic());
    if (!guarded.has(client)) client.on("error", ignore);
    guarded.add(client);
  };

  private constructor(pool: PgPool, isOwn: boolean) {
    this.#pool = pool;
    this.#isOwn = isOwn;
    // Without a listener, a connection that breaks would end the process, idle or not. One in use
    // must have it at once: the same packet that brings it to life may bring its end.
    pool.on("error", ignore);
    pool.on("acquire", this.#guard);
  }

  /** Takes the caller's pool, or makes one. Nothing is connected yet. */
  static async make({ url, pool, poolSize = POOL_SIZE }: PoolOptions): Promise<Pool> {
    if (pool !== undefined) return new Pool(pool, false);
    const pg = await importDriver();
    return new Pool(makePool(pg, url ?? "", poolSize), true);
  }

  /** Lends a connection for as long as `work` runs. */
  async withConnection<Answer>(work: (client: PgClient) => Promise<Answer>): Promise<Answer> {
    const client = await this.#connect();
    const began = systemClock.monotonic();
    let isSpoiled = false;
    try {
      return await work(client);
    } catch (error) {
      isSpoiled = breaksConnection(error);
      if (isAnswerTimeout(error)) cancelStatement(client);
      if (isAnswerTimeout(error) || failureOf(error) === "read-only") this.#trustedSince = began;
      throw error;
    } finally {
      this.#heardAt.set(client, systemClock.monotonic());
      client.release(isSpoiled);
    }
  }

  /** Ends the connections that were made here. A caller's pool stays open. */
  async end(): Promise<void> {
    if (this.#isOwn) {
      // Its connections may still break while they end: the listeners stay. One that is half open
      // never says that it has ended.
      await within(systemClock, END_MS_MAX, this.#pool.end());
      return;
    }
    this.#pool.off("error", ignore);
    this.#pool.off("acquire", this.#guard);
  }

  async #connect(): Promise<PgClient> {
    try {
      for (;;) {
        const client = await inTime(this.#pool.connect());
        this.#guard(client);
        if (this.#heardAt.get(client)! >= this.#trustedSince) return client;
        client.release(true);
      }
    } catch (error) {
      throw new NotConnected(error);
    }
  }
}

/** What comes too late goes straight back. */
async function inTime(connecting: Promise<PgClient>): Promise<PgClient> {
  const arrived: PgClient[] = [];
  const arrival = connecting.then((client) => arrived.push(client));
  await within(systemClock, LEND_MS_MAX, arrival);
  const [client] = arrived;
  if (client !== undefined) return client;
  connecting.then((late) => late.release(), ignore);
  throw new Error(`timeout exceeded after ${LEND_MS_MAX / 1000} seconds`);
}

/** Sends one statement and waits for its answer, but not for ever. */
export function send(client: Pick<PgClient, "query">, sent: Sent): Promise<Received> {
  return client.query({ query_timeout: ANSWER_MS, ...sent });
}

type Driver = (typeof import("pg"))["default"];

async function importDriver(): Promise<Driver> {
  try {
    const { default: pg } = await import("pg");
    return pg;
  } catch (cause) {
    throw new MillraceError(
      "OPTION_INVALID",
      'the package "pg" is missing, which postgresStore needs: npm i pg',
      { cause },
    );
  }
}

function makePool(pg: Driver, url: string, poolSize: number): PgPool {
  try {
    // The pool reads the URL only when it connects; a client does so at once.
    void new pg.Client({ connectionString: url });
    return new pg.Pool({
      connectionString: url,
      max: poolSize,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      allowExitOnIdle: true,
      application_name: "millrace",
    });
  } catch {
    // The driver's own error may quote the URL, and with it the password.
    throw new MillraceError("OPTION_INVALID", "the url of the database cannot be read");
  }
}

function ignore(): void {}
