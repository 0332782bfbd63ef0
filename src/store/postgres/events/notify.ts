/**
 * Sends wake-ups to other processes. NOTIFY takes a lock of the whole database at its commit, so it
 * never stands in the transaction of a verb: it follows the commit, and many share one.
 */
import { wait } from "../../../core/clock.ts";
import { systemClock } from "../../../lib/system.ts";
import type { WakeUp } from "../../store.ts";
import { send, type Pool } from "../database/pool.ts";

/** The least time between two words of one process. */
const REST_MS = 10;

/** A wake-up that is lost at a crash of the server costs nothing, so nothing waits for its disk. */
const NOTIFY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";

/** Who hears the higher one looks for all that the lower one says. */
const RANK: Readonly<Record<WakeUp, number>> = { events: 0, ready: 1, work: 2 };

/** What a statement takes along. */
export interface Notification {
  readonly channel: string;
  readonly word: string;
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

  /** The first word goes out at once; what comes while it rests goes together. */
  notify(wakeUp: WakeUp): void {
    if (this.#pending === null || RANK[wakeUp] > RANK[this.#pending]) this.#pending = wakeUp;
    this.#notifying ??= this.#notifyAll();
  }

  /**
   * A word for a statement to take along in its own transaction, which is heard sooner. Only when
   * nothing was said for a while: whoever has much to say must not hold that lock at every commit.
   */
  handOver(wakeUp: WakeUp): Notification | null {
    if (this.#notifying !== null) return null;
    this.#notifying = this.#rest();
    return { channel: this.#channel, word: notificationOf(this.#sender, wakeUp) };
  }

  /** Resolves when nothing is left to be sent. */
  async silent(): Promise<void> {
    await this.#notifying;
  }

  async #notifyAll(): Promise<void> {
    while (this.#pending !== null) {
      const values = [this.#channel, notificationOf(this.#sender, this.#pending)];
      this.#pending = null;
      try {
        await this.#pool.lend((client) => send(client, { text: NOTIFY, values }));
      } catch {
        // It was a wake-up: the others find out when they poll.
      }
      await wait(systemClock, REST_MS);
    }
    this.#notifying = null;
  }

  async #rest(): Promise<void> {
    await wait(systemClock, REST_MS);
    await this.#notifyAll();
  }
}

/** What is sent: who says it, and what. */
export function notificationOf(sender: string, word: WakeUp | "beat"): string {
  return `${sender} ${word}`;
}

export function readNotification(text: string): { sender: string; word: string } {
  const [sender = "", word = ""] = text.split(" ");
  return { sender, word };
}
