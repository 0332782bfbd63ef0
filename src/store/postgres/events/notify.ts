/**
 * Sends wake-ups to other processes. A transaction with NOTIFY takes a database-wide lock at its
 * commit, so notifications are sent after the commit of a verb, and many wake-ups share one. The
 * wake-up for events waits a moment for another one: the end of a short run also announces its
 * start, and the settle is not slowed down by a notification beside it.
 */
import type { Clock } from "../../../core/clock.ts";
import type { WakeUp } from "../../store.ts";
import { send, type Pool } from "../database/pool.ts";
import { WakeUpThrottle } from "./wake-up-throttle.ts";

/** Losing a wake-up in a server crash is harmless, so the commit does not wait for the disk. */
const NOTIFY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";

/** The same for the own listener. A standby refuses NOTIFY; a primary made read-only does not. */
const BEAT = `${NOTIFY}, current_setting('transaction_read_only') = 'on' AS is_read_only`;

/** How long the wake-up for events waits for another wake-up, which includes it. */
const EVENTS_MS = 10;

/** Parameters with which a statement sends a notification. */
export interface NotificationParameters {
  readonly channel: string;
  readonly payload: string;
}

export interface NotifySenderParts {
  readonly pool: Pick<Pool, "withConnection">;
  readonly clock: Pick<Clock, "after">;
  readonly channel: string;
  readonly sender: string;
}

export class NotifySender {
  readonly #pool: Pick<Pool, "withConnection">;
  readonly #clock: Pick<Clock, "after">;
  readonly #channel: string;
  readonly #sender: string;
  readonly #throttle: WakeUpThrottle;
  /** Set while a wake-up for events waits. */
  #stopWaiting: (() => void) | null = null;

  constructor({ pool, clock, channel, sender }: NotifySenderParts) {
    this.#pool = pool;
    this.#clock = clock;
    this.#channel = channel;
    this.#sender = sender;
    this.#throttle = new WakeUpThrottle(clock, (wakeUp) => this.#send(wakeUp));
  }

  /** The first wake-up is sent at once, for events soon; wake-ups during a pause are merged. */
  notify(wakeUp: WakeUp): void {
    if (wakeUp === "events")
      this.#stopWaiting ??= this.#clock.after(EVENTS_MS, () => this.#flush());
    else this.#throttle.add(wakeUp);
  }

  /**
   * A notification that a statement sends in its own transaction, which arrives sooner. Null during
   * a pause: a busy process must not take the database-wide lock at every commit.
   */
  forStatement(wakeUp: WakeUp): NotificationParameters | null {
    if (!this.#throttle.takeTurn(wakeUp)) return null;
    return { channel: this.#channel, payload: payloadOf(this.#sender, wakeUp) };
  }

  /** The statement has sent its notification, which includes the wake-up for events. */
  committed(): void {
    this.#dropWaiting();
  }

  /** Sends a message that only the own listener reads. False: the server is read-only. */
  async beat(): Promise<boolean> {
    const values = [this.#channel, payloadOf(this.#sender, "beat")];
    const { rows } = await this.#pool.withConnection((client) =>
      send(client, { text: BEAT, values }),
    );
    return rows[0]?.is_read_only !== true;
  }

  /** Sends what waits, and resolves when it is sent. */
  async close(): Promise<void> {
    this.#flush();
    await this.#throttle.close();
  }

  #flush(): void {
    if (this.#dropWaiting()) this.#throttle.add("events");
  }

  /** The events that wait are committed: any notification that follows includes them. */
  #dropWaiting(): boolean {
    const isWaiting = this.#stopWaiting !== null;
    this.#stopWaiting?.();
    this.#stopWaiting = null;
    return isWaiting;
  }

  async #send(wakeUp: WakeUp): Promise<void> {
    this.#dropWaiting();
    const values = [this.#channel, payloadOf(this.#sender, wakeUp)];
    try {
      await this.#pool.withConnection((client) => send(client, { text: NOTIFY, values }));
    } catch {
      // Best effort: other processes poll.
    }
  }
}

/** The payload of a notification: the sender and its message. */
function payloadOf(sender: string, message: WakeUp | "beat"): string {
  return `${sender} ${message}`;
}

export function parsePayload(payload: string): { sender: string; message: string } {
  const [sender = ""] = payload.split(" ", 1);
  return { sender, message: payload.slice(sender.length + 1) };
}
