/**
 * Receives the wake-ups of other processes. The listener has its own connection, because LISTEN is
 * session state and a pooled connection changes hands. The connection and the timers do not keep
 * the process alive.
 *
 * A pooler in transaction mode would leave the LISTEN in a session that other clients get next, and
 * these would receive the notifications. So LISTEN is sent only to a session that the connection
 * keeps.
 *
 * A half-open connection and other poolers fail silently. Therefore the process notifies its own
 * listener every 3 s and the listener reconnects when it has not received such a
 * message. The message is sent on a connection of the pool: on the listener's own connection, a
 * pooler would return it together with the answer, and the listener would not notice that it is
 * deaf to others.
 */
import type { Dice } from "../../../core/clock.ts";
import { backgroundTimer, systemClock } from "../../../lib/system.ts";
import { isWakeUp } from "../../types/wake-ups.ts";
import type { WakeUp } from "../../store.ts";
import { parsePayload } from "./notify.ts";
import { optionsOf } from "../database/callers-pool.ts";
import { send, type PoolOptions, type Received } from "../database/pool.ts";
import { quoted } from "../database/statements.ts";

const BEAT_MS = 3_000;
/** A beat that was sent arrives within this time, or the listener is deaf. */
const ECHO_MS_MAX = 2_500;
const CONNECT_MS_MAX = 5_000;
/** A session that the connection keeps answers within this time. */
const SESSION_MS_MAX = 2_000;
/** How often is looked whether a pooler gives the session to others. */
const SESSION_LOOKS = 10;
/** Backoff between two connection attempts. */
const BACKOFF_MS_MIN = 100;
const BACKOFF_MS_MAX = 6_000;
/** Consecutive connections without a notification: a pooler is probably in between. */
const DEAF_MAX = 2;
/** Pause after that. Later attempts find out whether the pooler is gone. */
const DEAF_PAUSE_MS = 300_000;

const BOUNDS = {
  connectionTimeoutMillis: CONNECT_MS_MAX,
  keepAlive: true,
  keepAliveInitialDelayMillis: BEAT_MS,
};

const POLLING_ONLY = "jobs of other processes are found by polling only";
const DEAF =
  `${POLLING_ONLY}: LISTEN receives nothing. A pooler in transaction mode, such as PgBouncer, ` +
  "drops notifications: connect to PostgreSQL directly, or use a pooler in session mode";

/** The part of `pg.Client` that is used. */
interface ListeningClient {
  /** The process of the server, or a number that a pooler has made up. */
  readonly processID?: number | null;
  connect(): Promise<unknown>;
  query(sent: any): Promise<Received>;
  end(): Promise<void>;
  unref?(): void;
  on(event: "error" | "end", listener: () => void): unknown;
  on(event: "notification", listener: (message: any) => void): unknown;
}

interface ListenerOptions {
  readonly address: PoolOptions;
  readonly channel: string;
  readonly sender: string;
  readonly dice: Dice;
  /** Notifies the own listener from another connection. False: the server is read-only. */
  readonly beat: () => Promise<boolean>;
  readonly besideTransaction: BesideTransaction;
  readonly onWakeUp: (wakeUp: WakeUp) => void;
  readonly warn: (warning: string) => void;
}

/** Runs `work` while another connection is in a transaction, in the session `other`. */
type BesideTransaction = (work: (other: number) => Promise<boolean>) => Promise<boolean>;

/** How a connection ended: never usable, without a notification, or with some. */
type Ending = "unreachable" | "deaf" | "received";

export class Listener {
  readonly #options: ListenerOptions;
  /** Aborted by `close`. */
  #open: AbortController | null = null;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  open(): void {
    if (this.#open !== null) return;
    this.#open = new AbortController();
    void listen(this.#options, this.#open.signal);
  }

  close(): void {
    this.#open?.abort();
    this.#open = null;
  }
}

/** Reconnects until the signal is aborted. */
async function listen(options: ListenerOptions, signal: AbortSignal): Promise<void> {
  let failures = 0;
  let deaf = 0;
  while (!signal.aborted) {
    const client = await makeClient(options.address);
    if (client === null) {
      options.warn(`${POLLING_ONLY}: the pool does not reveal its connection options`);
      return;
    }
    const ending = await listenOnce(client, options, signal);
    failures = ending === "received" ? 0 : failures + 1;
    deaf = ending === "deaf" ? deaf + 1 : 0;
    if (deaf >= DEAF_MAX) options.warn(DEAF);
    const ceiling = Math.min(BACKOFF_MS_MIN * 2 ** failures, BACKOFF_MS_MAX);
    const pauseMs = deaf >= DEAF_MAX ? DEAF_PAUSE_MS : ceiling;
    await pause(pauseMs * (0.5 + options.dice.random() / 2), signal);
  }
}

/** Listens on one connection until it ends. Never throws. */
async function listenOnce(
  client: ListeningClient,
  { channel, sender, beat, besideTransaction, onWakeUp }: ListenerOptions,
  signal: AbortSignal,
): Promise<Ending> {
  const broken = new AbortController();
  const echo = new Echo(beat, () => broken.abort());
  client.on("error", () => broken.abort());
  client.on("end", () => broken.abort());
  client.on("notification", ({ payload = "" }) => {
    const { sender: from, message } = parsePayload(payload);
    echo.received();
    if (from !== sender && isWakeUp(message) && !signal.aborted) onWakeUp(message);
  });
  try {
    client.unref?.();
    await client.connect();
    // An encrypted connection has another socket now.
    client.unref?.();
    if (!(await keepsSession(client, besideTransaction))) {
      void client.end().catch(ignore);
      return "deaf";
    }
    signal.throwIfAborted();
    await send(client, { text: `LISTEN ${quoted(channel)}` });
  } catch {
    void client.end().catch(ignore);
    return "unreachable";
  }
  // Notifications may have been missed before LISTEN.
  if (!signal.aborted) onWakeUp("work");
  const ended = AbortSignal.any([signal, broken.signal]);
  while (!ended.aborted && !echo.isMissing) {
    void echo.send();
    await pause(BEAT_MS, ended);
  }
  void client.end().catch(ignore);
  if (echo.hasReceived) return "received";
  return ended.aborted ? "unreachable" : "deaf";
}

/**
 * Whether every transaction of the connection has the same session of the server. A connection to
 * the server itself knows the process of its session. A pooler in transaction mode gives the
 * session to another transaction meanwhile, by chance or because it is the last one used. So the
 * connection uses its session right before each look: otherwise the session of the transaction
 * would be the last one used, and all looks would find the two sessions of the first one.
 */
async function keepsSession(
  client: ListeningClient,
  besideTransaction: BesideTransaction,
): Promise<boolean> {
  const own = await sessionOf(client);
  if (client.processID === own) return true;
  for (let look = 0; look < SESSION_LOOKS; look += 1) {
    if ((await sessionOf(client)) !== own) return false;
    const isOwn = await besideTransaction(async (other) => {
      // A pooler with one session has none left for the answer.
      const now = await sessionOf(client, SESSION_MS_MAX).catch(ignore);
      return other !== own && now === own;
    });
    if (!isOwn) return false;
  }
  return true;
}

/** The process of the server that executes the statements of the connection. */
export async function sessionOf(
  client: Pick<ListeningClient, "query">,
  limitMs: number = CONNECT_MS_MAX,
): Promise<number> {
  const text = "SELECT pg_backend_pid() AS pid";
  const { rows } = await send(client, { text, query_timeout: limitMs });
  return rows[0]?.pid;
}

/** Whether the listener receives the messages that the process sends to itself. */
class Echo {
  readonly #beat: ListenerOptions["beat"];
  readonly #onReadOnly: () => void;
  hasReceived = false;
  #receivedAt = -Infinity;
  #isSending = false;
  /** The commit of the first beat that has not been received. */
  #missingSince: number | null = null;

  constructor(beat: ListenerOptions["beat"], onReadOnly: () => void) {
    this.#beat = beat;
    this.#onReadOnly = onReadOnly;
  }

  get isMissing(): boolean {
    const since = this.#missingSince;
    return since !== null && systemClock.monotonic() - since >= ECHO_MS_MAX;
  }

  received(): void {
    this.hasReceived = true;
    this.#receivedAt = systemClock.monotonic();
    this.#missingSince = null;
  }

  /** Not awaited: a pool without a free connection says nothing about the listener. */
  async send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    const sentAt = systemClock.monotonic();
    try {
      const isWritable = await this.#beat();
      if (!isWritable) this.#onReadOnly();
      if (this.#receivedAt < sentAt) this.#missingSince ??= systemClock.monotonic();
    } catch {
      // The next beat tries again.
    } finally {
      this.#isSending = false;
    }
  }
}

async function makeClient({ url, pool }: PoolOptions): Promise<ListeningClient | null> {
  if (url !== undefined) {
    const { default: pg } = await import("pg");
    return new pg.Client({
      connectionString: url,
      ...BOUNDS,
      application_name: "millrace listener",
    });
  }
  // Every pool of `pg` reveals its options; a pool of another library may not.
  const options = pool === undefined ? null : optionsOf(pool);
  const Client = options?.["Client"];
  if (typeof Client !== "function") return null;
  // The pool's options may allow an unbounded wait for a connection.
  return Reflect.construct(Client, [{ ...options, ...BOUNDS }]);
}

/** Waits until the time has passed or the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const stop = backgroundTimer(ms, resolve);
    signal.addEventListener(
      "abort",
      () => {
        stop();
        resolve();
      },
      { once: true },
    );
  });
}

function ignore(): void {}
