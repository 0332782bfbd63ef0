/**
 * Hears wake-ups of other processes, on a connection of its own: one from a pool belongs to whoever
 * borrows it next. A connection that was cut says so; one that is half open says nothing, and so
 * does a pooler that shares it among clients. Therefore the listener speaks on its own channel as
 * well, and does not trust a connection on which it has not heard itself for a while. Nor does it
 * stay with a server that takes no writes any more: those who write are with the new primary.
 */
import type { Dice } from "../../../core/clock.ts";
import { systemClock } from "../../../lib/system.ts";
import type { WakeUp } from "../../store.ts";
import { readNotification, notificationOf } from "./notify.ts";
import { send, type PoolOptions, type Received } from "../database/pool.ts";
import { quoted } from "../database/statements.ts";

const BEAT_MS = 3_000;
const SILENCE_MS_MAX = 9_000;
const CONNECT_MS_MAX = 5_000;
/** Between two tries to connect: from the first to the tenth part of a minute. */
const BACKOFF_MS_MIN = 100;
const BACKOFF_MS_MAX = 6_000;
/** Connections in a row that came to life and stayed silent: there is a pooler in between. */
const DEAF_MAX = 2;
/** Then it is tried only now and then: the pooler may be gone some day. */
const DEAF_PAUSE_MS = 300_000;

/** A standby refuses it; a server that was made read-only does not. */
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

interface EarOptions {
  readonly address: PoolOptions;
  readonly channel: string;
  readonly sender: string;
  readonly dice: Dice;
  readonly hear: (wakeUp: WakeUp) => void;
  readonly tell: (warning: string) => void;
}

/** How a connection ended: it never came to life, stayed silent, or had been heard on. */
type Ending = "unreachable" | "deaf" | "heard";

export class Listener {
  readonly #options: EarOptions;
  /** Aborted when nobody listens any more. */
  #open: AbortController | null = null;

  constructor(options: EarOptions) {
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

/** Connects again and again until the signal is aborted. */
async function listen(options: EarOptions, signal: AbortSignal): Promise<void> {
  let failures = 0;
  let deaf = 0;
  while (!signal.aborted) {
    const client = await makeClient(options.address);
    if (client === null) {
      options.tell(`${NO_LISTEN}: the pool does not say how to connect`);
      return;
    }
    const ending = await listenOnce(client, options, signal);
    failures = ending === "heard" ? 0 : failures + 1;
    deaf = ending === "deaf" ? deaf + 1 : 0;
    if (deaf >= DEAF_MAX)
      options.tell(`${NO_LISTEN}: LISTEN hears nothing, behind a pooler perhaps`);
    const ceiling = Math.min(BACKOFF_MS_MIN * 2 ** failures, BACKOFF_MS_MAX);
    const pauseMs = deaf >= DEAF_MAX ? DEAF_PAUSE_MS : ceiling;
    await pause(pauseMs * (0.5 + options.dice.random() / 2), signal);
  }
}

const NO_LISTEN = "work of other processes is found by polling alone";

/** One connection from its first to its last moment. Never throws. */
async function listenOnce(
  client: ListeningClient,
  { channel, sender, hear }: EarOptions,
  signal: AbortSignal,
): Promise<Ending> {
  const broken = new AbortController();
  let heardAt: number | null = null;
  client.on("error", () => broken.abort());
  client.on("end", () => broken.abort());
  client.on("notification", ({ payload = "" }) => {
    const { sender: from, word } = readNotification(payload);
    if (from === sender && word === "beat") heardAt = systemClock.monotonic();
    if (from !== sender && isHint(word) && !signal.aborted) hear(word);
  });
  try {
    await client.connect();
    await send(client, { text: `LISTEN ${quoted(channel)}` });
  } catch {
    void client.end().catch(ignore);
    return "unreachable";
  }
  // Whatever was said while nobody listened.
  if (!signal.aborted) hear("work");
  const beganAt = systemClock.monotonic();
  const ended = AbortSignal.any([signal, broken.signal]);
  let isBeating = false;
  while (!ended.aborted && systemClock.monotonic() - (heardAt ?? beganAt) < SILENCE_MS_MAX) {
    if (!isBeating) {
      isBeating = true;
      // Not waited for: on a half-open connection it never returns.
      send(client, { text: BEAT, values: [channel, notificationOf(sender, "beat")] })
        .then(({ rows }) => rows[0]?.read_only === "on" && broken.abort())
        .catch(() => broken.abort())
        .finally(() => (isBeating = false));
    }
    await pause(BEAT_MS, ended);
  }
  void client.end().catch(ignore);
  if (heardAt !== null) return "heard";
  return ended.aborted ? "unreachable" : "deaf";
}

function isHint(word: string): word is WakeUp {
  return word === "work" || word === "ready" || word === "events";
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
  // What every pool of the driver has; a pool of another make may not.
  const Client: unknown = pool === undefined ? undefined : Reflect.get(pool, "Client");
  const options: unknown = pool === undefined ? undefined : Reflect.get(pool, "options");
  if (typeof Client !== "function" || typeof options !== "object") return null;
  // A pool may wait for a connection for ever; an listener must not.
  return Reflect.construct(Client, [{ ...options, ...BOUNDS }]);
}

/** Waits, but not beyond the signal. */
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
