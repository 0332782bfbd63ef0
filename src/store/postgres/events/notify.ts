/**
 * Sends wake-ups to other processes. A transaction with NOTIFY takes a database-wide lock at its
 * commit, so notifications are sent after the commit of a verb, and many wake-ups share one.
 */
import { wait } from "../../../core/clock.ts";
import { systemClock } from "../../../lib/system.ts";
import type { WakeUp } from "../../store.ts";
import { send, type Pool } from "../database/pool.ts";

/** The least time between two notifications of one process. */
const PAUSE_MS = 10;

/** Losing a wake-up in a server crash is harmless, so the commit does not wait for the disk. */
const NOTIFY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";

/** A listener treats a higher rank as including the lower ones. */
const RANK: Readonly<Record<WakeUp, number>> = { events: 0, ready: 1, work: 2 };

/** Parameters with which a statement sends a notification. */
export interface NotificationParameters {
  readonly channel: string;
  readonly payload: string;
}

export class NotifySender {
  readonly #pool: Pool;
  readonly #channel: string;
  readonly #sender: string;
  #pending: WakeUp | null = null;
  #notifying: Promise<void> | null = null;

  constructor(pool: Pool, channel: string, sender: string) {
    this.#pool = pool;
    this.#channel = channel;
    this.#sender = sender;
  }

  /** The first wake-up is sent at once; wake-ups during the pause are merged. */
  notify(wakeUp: WakeUp): void {
    if (this.#pending === null || RANK[wakeUp] > RANK[this.#pending]) this.#pending = wakeUp;
    this.#notifying ??= this.#notifyAll();
  }

  /**
   * A notification that a statement sends in its own transaction, which arrives sooner. Null during
   * the pause: a busy process must not take the database-wide lock at every commit.
   */
  forStatement(wakeUp: WakeUp): NotificationParameters | null {
    if (this.#notifying !== null) return null;
    this.#notifying = this.#notifyAfterPause();
    return { channel: this.#channel, payload: payloadOf(this.#sender, wakeUp) };
  }

  /** Resolves when no notification is pending. */
  async drained(): Promise<void> {
    await this.#notifying;
  }

  async #notifyAll(): Promise<void> {
    while (this.#pending !== null) {
      const values = [this.#channel, payloadOf(this.#sender, this.#pending)];
      this.#pending = null;
      try {
        await this.#pool.withConnection((client) => send(client, { text: NOTIFY, values }));
      } catch {
        // Best effort: other processes poll.
      }
      await wait(systemClock, PAUSE_MS);
    }
    this.#notifying = null;
  }

  async #notifyAfterPause(): Promise<void> {
    await wait(systemClock, PAUSE_MS);
    await this.#notifyAll();
  }
}

/** The payload of a notification: the sender and its message. */
export function payloadOf(sender: string, message: WakeUp | "beat"): string {
  return `${sender} ${message}`;
}

export function parsePayload(payload: string): { sender: string; message: string } {
  const [sender = "", message = ""] = payload.split(" ");
  return { sender, message };
}
