/**
 * Sends hints to other processes. NOTIFY takes a lock of the whole database at its commit, so it
 * never stands in the transaction of a verb: it follows the commit, and many share one.
 */
import { wait } from "../../../core/clock.ts";
import { systemClock } from "../../../lib/system.ts";
import type { Hint } from "../../store.ts";
import { send, type Pool } from "../database/pool.ts";

/** The least time between two words of one process. */
const REST_MS = 10;

/** A hint that is lost at a crash of the server costs nothing, so nothing waits for its disk. */
const CRY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";

/** Who hears the higher one looks for all that the lower one says. */
const RANK: Readonly<Record<Hint, number>> = { news: 0, ready: 1, work: 2 };

/** What a statement takes along. */
export interface Word {
  readonly channel: string;
  readonly word: string;
}

export class Crier {
  readonly #pool: Pool;
  readonly #channel: string;
  readonly #sender: string;
  #pending: Hint | null = null;
  #crying: Promise<void> | null = null;

  constructor(pool: Pool, channel: string, sender: string) {
    this.#pool = pool;
    this.#channel = channel;
    this.#sender = sender;
  }

  /** The first word goes out at once; what comes while it rests goes together. */
  cry(hint: Hint): void {
    if (this.#pending === null || RANK[hint] > RANK[this.#pending]) this.#pending = hint;
    this.#crying ??= this.#cryAll();
  }

  /**
   * A word for a statement to take along in its own transaction, which is heard sooner. Only when
   * nothing was said for a while: whoever has much to say must not hold that lock at every commit.
   */
  handOver(hint: Hint): Word | null {
    if (this.#crying !== null) return null;
    this.#crying = this.#rest();
    return { channel: this.#channel, word: wordOf(this.#sender, hint) };
  }

  /** Resolves when nothing is left to be sent. */
  async silent(): Promise<void> {
    await this.#crying;
  }

  async #cryAll(): Promise<void> {
    while (this.#pending !== null) {
      const values = [this.#channel, wordOf(this.#sender, this.#pending)];
      this.#pending = null;
      try {
        await this.#pool.lend((client) => send(client, { text: CRY, values }));
      } catch {
        // It was a hint: the others find out when they poll.
      }
      await wait(systemClock, REST_MS);
    }
    this.#crying = null;
  }

  async #rest(): Promise<void> {
    await wait(systemClock, REST_MS);
    await this.#cryAll();
  }
}

/** What is sent: who says it, and what. */
export function wordOf(sender: string, word: Hint | "beat"): string {
  return `${sender} ${word}`;
}

export function readWord(text: string): { sender: string; word: string } {
  const [sender = "", word = ""] = text.split(" ");
  return { sender, word };
}
