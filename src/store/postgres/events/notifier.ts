/**
 * Wake-ups: tells listeners that something has happened, and whether it may be work for them. A
 * commit of this process says so at once, and sends word to the others; theirs are heard on a
 * connection of its own, but only while somebody listens. A wake-up is a hint: it may come for
 * nothing or not at all, and whoever needs certainty polls.
 */
import type { Dice } from "../../../core/clock.ts";
import { headBytes } from "../../../core/text.ts";
import type { Hint } from "../../store.ts";
import { Crier, type Word } from "./notify.ts";
import { Ear } from "./listen.ts";
import type { Pool, PoolOptions } from "../database/pool.ts";

/** The server takes no longer names of channels. */
const CHANNEL_BYTES_MAX = 63;

interface WatcherOptions {
  readonly pool: Pool;
  readonly address: PoolOptions;
  readonly schema: string;
  readonly dice: Dice;
  /** Takes what an operator should know about the wake-ups. */
  readonly tell: (notice: string) => void;
}

export class Watcher {
  readonly #listeners = new Set<(hint: Hint) => void>();
  readonly #crier: Crier;
  readonly #ear: Ear;

  constructor({ pool, address, schema, dice, tell }: WatcherOptions) {
    // Who shares the first 54 bytes of a schema's name shares its hints, and nothing else.
    const channel = headBytes(`millrace:${schema}`, CHANNEL_BYTES_MAX);
    const sender = Buffer.from(dice.bytes(8)).toString("hex");
    this.#crier = new Crier(pool, channel, sender);
    this.#ear = new Ear({
      address,
      channel,
      sender,
      dice,
      hear: (hint) => this.#call(hint),
      tell,
    });
  }

  watch(listener: (hint: Hint) => void): () => void {
    // Wrapped, so that one function may listen twice and leave once.
    const entry = (hint: Hint): void => listener(hint);
    this.#listeners.add(entry);
    this.#ear.open();
    return () => {
      this.#listeners.delete(entry);
      if (this.#listeners.size === 0) this.#ear.close();
    };
  }

  /** Something changed: every listener hears of it, here at once and elsewhere soon. */
  wake(hint: Hint): void {
    this.#call(hint);
    this.#crier.cry(hint);
  }

  /** The same, if the statement that changes it can take the word along; else null. */
  handOver(hint: Hint): { readonly word: Word; readonly committed: () => void } | null {
    const word = this.#crier.handOver(hint);
    return word === null ? null : { word, committed: () => this.#call(hint) };
  }

  /** Nobody is called any more. */
  close(): void {
    this.#listeners.clear();
    this.#ear.close();
  }

  /** Resolves when the last word to other processes is out. */
  async silent(): Promise<void> {
    await this.#crier.silent();
  }

  /**
   * One that throws is left alone: it was a hint, and a listener's own fault must cost neither a
   * commit its answers nor a neighbour its wake-up.
   */
  #call(hint: Hint): void {
    for (const listener of this.#listeners) {
      try {
        listener(hint);
      } catch {
        continue;
      }
    }
  }
}
