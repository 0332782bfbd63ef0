/**
 * Receives the wake-ups of other processes. The listener has its own connection, because LISTEN is
 * session state and a pooled connection changes hands. A half-open connection and a pooler in
 * transaction mode both fail silently. Therefore the listener notifies itself every 3 s and
 * reconnects when its own message has not arrived for 9 s. It also leaves a server that has become
 * read-only: the writers are connected to the new primary.
 */
import type { Dice } from "../../../core/clock.ts";
import { systemClock } from "../../../lib/system.ts";
import type { WakeUp } from "../../store.ts";
import { parsePayload, payloadOf } from "./notify.ts";
import { optionsOf } from "../database/callers-pool.ts";
import { send, type PoolOptions, type Received } from "../database/pool.ts";
import { quoted } from "../database/statements.ts";

const BEAT_MS = 3_000;
const SILENCE_MS_MAX = 9_000;
const CONNECT_MS_MAX = 5_000;
/** Backoff between two connection attempts. */
const BACKOFF_MS_MIN = 100;
const BACKOFF_MS_MAX = 6_000;
/** Consecutive connections without a notification: a pooler is probably in between. */
const SILENT_MAX = 2;
/** Pause after that. Later attempts find out whether the pooler is gone. */
const SILENT_PAUSE_MS = 300_000;

/** A standby refuses pg_notify; a primary that was made read-only does not. */
const BEAT = "SELECT pg_notify($1, $2), current_setting('transaction_read_only') AS read_only";

const BOUNDS = {
  connectionTimeoutMillis: CONNECT_MS_MAX,
  keepAlive: true,
  keepAliveInitialDelayMillis: BEAT_MS,
};

/** The part of `pg.Client` that is used. */
interface ListeningClient {
  connect(): Promise<unknown>;
  query(sent: any): Promise<Received>;
  end(): Promise<void>;
  on(event: "error" | "end", listener: () => void): unknown;
  on(event: "notification", listener: (message: any) => void): unknown;
}

interface ListenerOptions {
  readonly address: PoolOptions;
  readonly channel: string;
  readonly sender: string;
  readonly dice: Dice;
  readonly onWakeUp: (wakeUp: WakeUp) => void;
  readonly warn: (warning: string) => void;
}

/** How a connection ended: never usable, without a notification, or with some. */
type Ending = "unreachable" | "silent" | "received";

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
  let silent = 0;
  while (!signal.aborted) {
    const client = await makeClient(options.address);
    if (client === null) {
      options.warn(`${POLLING_ONLY}: the pool does not reveal its connection options`);
      return;
    }
    const ending = await listenOnce(client, options, signal);
    failures = ending === "received" ? 0 : failures + 1;
    silent = ending === "silent" ? silent + 1 : 0;
    if (silent >= SILENT_MAX)
      options.warn(`${POLLING_ONLY}: LISTEN receives nothing, perhaps because of a pooler`);
    const ceiling = Math.min(BACKOFF_MS_MIN * 2 ** failures, BACKOFF_MS_MAX);
    const pauseMs = silent >= SILENT_MAX ? SILENT_PAUSE_MS : ceiling;
    await pause(pauseMs * (0.5 + options.dice.random() / 2), signal);
  }
}

const POLLING_ONLY = "jobs of other processes are found by polling only";

/** Listens on one connection until it ends. Never throws. */
async function listenOnce(
  client: ListeningClient,
  { channel, sender, onWakeUp }: ListenerOptions,
  signal: AbortSignal,
): Promise<Ending> {
  const broken = new AbortController();
  let receivedAt: number | null = null;
  client.on("error", () => broken.abort());
  client.on("end", () => broken.abort());
  client.on("notification", ({ payload = "" }) => {
    const { sender: from, message } = parsePayload(payload);
    if (from === sender && message === "beat") receivedAt = systemClock.monotonic();
    if (from !== sender && isWakeUp(message) && !signal.aborted) onWakeUp(message);
  });
  try {
    await client.connect();
    await send(client, { text: `LISTEN ${quoted(channel)}` });
  } catch {
    void client.end().catch(ignore);
    return "unreachable";
  }
  // Notifications may have been missed before LISTEN.
  if (!signal.aborted) onWakeUp("work");
  const startedAt = systemClock.monotonic();
  const ended = AbortSignal.any([signal, broken.signal]);
  let isBeatPending = false;
  while (!ended.aborted && systemClock.monotonic() - (receivedAt ?? startedAt) < SILENCE_MS_MAX) {
    if (!isBeatPending) {
      isBeatPending = true;
      // Not awaited: on a half-open connection the statement never returns.
      send(client, { text: BEAT, values: [channel, payloadOf(sender, "beat")] })
        .then(({ rows }) => rows[0]?.read_only === "on" && broken.abort())
        .catch(() => broken.abort())
        .finally(() => (isBeatPending = false));
    }
    await pause(BEAT_MS, ended);
  }
  void client.end().catch(ignore);
  if (receivedAt !== null) return "received";
  return ended.aborted ? "unreachable" : "silent";
}

function isWakeUp(message: string): message is WakeUp {
  return message === "work" || message === "ready" || message === "events";
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
    const stop = systemClock.after(ms, resolve);
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
