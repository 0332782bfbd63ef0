/**
 * The connection of the heartbeat, where the store works on a caller's pool: a handler that holds
 * connections of the pool must not delay it. Either it is made from the options of the pool, or,
 * where the pool does not reveal them, it is a connection of the pool that is kept while a worker
 * is registered.
 */
import { within } from "../../../core/clock.ts";
import { systemClock } from "../../../lib/system.ts";
import type { WorkerId } from "../../types/jobs-and-runs.ts";
import { breaksConnection } from "./errors.ts";
import { optionsOf, plainOptionsOf, sizeOf } from "./callers-pool.ts";
import { Pool, poolEnded, type PgClient, type PgPool, type PoolOptions } from "./pool.ts";

export interface HeartbeatConnection {
  /** Fails once the caller's pool has ended: a worker that can do nothing else renews no lease. */
  withConnection<Answer>(work: (client: PgClient) => Promise<Answer>): Promise<Answer>;
  /** A worker was registered. Warnings go to `warn`. */
  reserve(worker: WorkerId, warn: (warning: string) => void): Promise<void>;
  /** A worker was removed. */
  release(worker: WorkerId): void;
  end(): Promise<void>;
}

/** A second one, because the first may be half open. */
const CONNECTIONS = 2;
/** Fewer connections, and a handler that holds one can stop the engine. */
const POOL_SIZE_MIN = 3;
/** How long a second connection of the caller's pool is waited for. */
const PROBE_MS = 1_000;

/** Null: the store has its own pool, which handlers cannot use. */
export async function heartbeatConnection(
  { pool: callers }: PoolOptions,
  pool: Pool,
): Promise<HeartbeatConnection | null> {
  if (callers === undefined) return null;
  const connection = optionsOf(callers);
  if (connection === null) return new ReservedConnection(pool);
  const own = await Pool.make({ connection, poolSize: CONNECTIONS });
  return {
    async withConnection(work) {
      if (pool.hasEnded) throw poolEnded();
      return own.withConnection(work);
    },
    async reserve(_worker, warn) {
      for (const warning of warningsAbout(callers)) warn(warning);
    },
    release() {},
    end: () => own.end(),
  };
}

const FIX =
  "Open the store with { url } instead, or with a pg.Pool whose options are plain values.";

function warningsAbout(pool: PgPool): readonly string[] {
  const plain = plainOptionsOf(pool);
  const max = sizeOf(pool);
  const noThread =
    `the heartbeat has no thread, because ${String(plain["missing"])}: a handler that blocks the ` +
    `event loop for longer than the lease loses the lease, and its job runs again. ${FIX}`;
  const tooSmall =
    `the pool has ${max} connection(s) at most: while handlers hold them, the worker can neither ` +
    "claim jobs nor store their ends, and a handler that waits for the engine meanwhile fails " +
    `with a time-out. Give the pool at least ${POOL_SIZE_MIN} connections, and two more than ` +
    "handlers hold at a time.";
  return [
    ...("missing" in plain ? [noThread] : []),
    ...(max !== null && max < POOL_SIZE_MIN ? [tooSmall] : []),
  ];
}

const RESERVED =
  "the heartbeat has no thread, because the pool does not reveal its connection options: a " +
  "handler that blocks the event loop for longer than the lease loses the lease, and its job " +
  `runs again. One connection of the pool is kept for the heartbeat. ${FIX}`;
const NOT_RESERVED =
  "the heartbeat has neither a thread nor a connection of its own, because the pool does not " +
  "reveal its connection options and has no second connection to spare: when handlers hold its " +
  `connections for longer than the lease, their jobs run again. ${FIX}`;

/** A connection of the caller's pool that stays taken. */
class ReservedConnection implements HeartbeatConnection {
  readonly #pool: Pool;
  #held: Promise<HeldConnection> | null = null;
  /** The workers for which a connection is kept: several may share the store. */
  readonly #workers = new Set<WorkerId>();
  #isTooSmall = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async withConnection<Answer>(work: (client: PgClient) => Promise<Answer>): Promise<Answer> {
    if (this.#pool.hasEnded) {
      // The end of the pool waits for the connection.
      this.#letGo(null);
      throw poolEnded();
    }
    if (this.#workers.size === 0 || this.#isTooSmall) return this.#pool.withConnection(work);
    const held = await this.#hold();
    try {
      return await work(held.client);
    } catch (error) {
      if (breaksConnection(error)) this.#letGo(error);
      throw error;
    }
  }

  /** Keeps nothing of a pool that has one connection only: nothing else would work. */
  async reserve(worker: WorkerId, warn: (warning: string) => void): Promise<void> {
    const isFirst = this.#workers.size === 0;
    if (isFirst) await this.#hold();
    this.#workers.add(worker);
    if (!isFirst) return;
    let isFree = false;
    const probe = this.#pool.withConnection(async () => void (isFree = true));
    await within(
      systemClock,
      PROBE_MS,
      probe.catch(() => {}),
    );
    this.#isTooSmall = !isFree;
    if (!isFree) this.#letGo(null);
    warn(isFree ? RESERVED : NOT_RESERVED);
  }

  release(worker: WorkerId): void {
    this.#workers.delete(worker);
    if (this.#workers.size === 0) this.#letGo(null);
  }

  async end(): Promise<void> {
    this.#workers.clear();
    this.#letGo(null);
  }

  #hold(): Promise<HeldConnection> {
    this.#held ??= hold(this.#pool).catch((error) => {
      this.#held = null;
      throw error;
    });
    return this.#held;
  }

  #letGo(cause: unknown): void {
    const held = this.#held;
    this.#held = null;
    void held?.then(({ end }) => end(cause), ignore);
  }
}

interface HeldConnection {
  readonly client: PgClient;
  /** Gives the connection back. After an error that breaks it, it is closed. */
  readonly end: (cause: unknown) => void;
}

function hold(pool: Pool): Promise<HeldConnection> {
  const held = Promise.withResolvers<HeldConnection>();
  const ended = Promise.withResolvers<void>();
  const end = (cause: unknown): void => (cause === null ? ended.resolve() : ended.reject(cause));
  pool
    .withConnection(async (client) => {
      held.resolve({ client, end });
      await ended.promise;
    })
    // After the connection was held, this is the error that ended it.
    .catch((error) => held.reject(error));
  return held.promise;
}

function ignore(): void {}
