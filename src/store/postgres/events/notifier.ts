/**
 * Wake-ups: tells listeners that something has happened, and whether it may be work for them. A
 * commit of this process says so at once, and sends word to the others; theirs are heard on a
 * connection of its own, but only while somebody listens. A wake-up is a wake-up: it may come for
 * nothing or not at all, and whoever needs certainty polls.
 */
import type { Dice } from "../../../core/clock.ts";
import { headBytes } from "../../../core/text.ts";
import type { WakeUp } from "../../store.ts";
import { NotifySender, type Notification } from "./notify.ts";
import { Listener } from "./listen.ts";
import type { Pool, PoolOptions } from "../database/pool.ts";

/** The server takes no longer names of channels. */
const CHANNEL_BYTES_MAX = 63;

interface WatcherOptions {
  readonly pool: Pool;
  readonly address: PoolOptions;
  readonly schema: string;
  readonly dice: Dice;
  /** Takes what an operator should know about the wake-ups. */
  readonly tell: (warning: string) => void;
}

export class Notifier {
  readonly #listeners = new Set<(wakeUp: WakeUp) => void>();
  readonly #notifySender: NotifySender;
  readonly #listener: Listener;

  constructor({ pool, address, schema, dice, tell }: WatcherOptions) {
    // Who shares the first 54 bytes of a schema's name shares its wake-ups, and nothing else.
    const channel = headBytes(`millrace:${schema}`, CHANNEL_BYTES_MAX);
    const sender = Buffer.from(dice.bytes(8)).toString("hex");
    this.#notifySender = new NotifySender(pool, channel, sender);
    this.#listener = new Listener({
      address,
      channel,
      sender,
      dice,
      hear: (wakeUp) => this.#call(wakeUp),
      tell,
    });
  }

  watch(listener: (wakeUp: WakeUp) => void): () => void {
    // Wrapped, so that one function may listen twice and leave once.
    const entry = (wakeUp: WakeUp): void => listener(wakeUp);
    this.#listeners.add(entry);
    this.#listener.open();
    return () => {
      this.#listeners.delete(entry);
      if (this.#listeners.size === 0) this.#listener.close();
    };
  }

  /** Something changed: every listener hears of it, here at once and elsewhere soon. */
  wake(wakeUp: WakeUp): void {
    this.#call(wakeUp);
    this.#notifySender.notify(wakeUp);
  }

  /** The same, if the statement that changes it can take the word along; else null. */
  handOver(wakeUp: WakeUp): { readonly word: Notification; readonly committed: () => void } | null {
    const word = this.#notifySender.handOver(wakeUp);
    return word === null ? null : { word, committed: () => this.#call(wakeUp) };
  }

  /** Nobody is called any more. */
  close(): void {
    this.#listeners.clear();
    this.#listener.close();
  }

  /** Resolves when the last word to other processes is out. */
  async silent(): Promise<void> {
    await this.#notifySender.silent();
  }

  /**
   * One that throws is left alone: it was a wake-up, and a listener's own fault must cost neither a
   * commit its answers nor a neighbour its wake-up.
   */
  #call(wakeUp: WakeUp): void {
    for (const listener of this.#listeners) {
      try {
        listener(wakeUp);
      } catch {
        continue;
      }
    }
  }
}
