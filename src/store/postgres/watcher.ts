/**
 * Wake-ups: tells listeners that something has happened, and whether it may be work for them. A
 * commit of this process says so at once, and sends word to the others; theirs are heard on a
 * connection of its own, but only while somebody listens. A wake-up is a hint: it may come for
 * nothing or not at all, and whoever needs certainty polls.
 */
import type { Dice } from "../../core/clock.ts";
import type { Hint } from "../store.ts";
import { Crier } from "./crier.ts";
import { Ear } from "./ear.ts";
import type { Pool, PoolOptions } from "./pool.ts";

interface WatcherOptions {
  readonly pool: Pool;
  readonly address: PoolOptions;
  readonly schema: string;
  readonly dice: Dice;
}

export class Watcher {
  readonly #listeners = new Set<(hint: Hint) => void>();
  readonly #crier: Crier;
  readonly #ear: Ear;
  #notice: string | null = null;
  #onNotice: ((notice: string) => void) | null = null;

  constructor({ pool, address, schema, dice }: WatcherOptions) {
    // Who shares the first 54 letters of a schema's name shares its hints, and nothing else.
    const channel = `millrace:${schema}`.slice(0, 63);
    const sender = Buffer.from(dice.bytes(8)).toString("hex");
    this.#crier = new Crier(pool, channel, sender);
    this.#ear = new Ear({
      address,
      channel,
      sender,
      dice,
      hear: (hint) => this.#call(hint),
      tell: (notice) => this.#tell(notice),
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

  /** What an operator should know about the wake-ups is told once, also if it came before. */
  onNotice(listener: (notice: string) => void): void {
    this.#onNotice = listener;
    if (this.#notice !== null) listener(this.#notice);
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

  #tell(notice: string): void {
    if (this.#notice !== null) return;
    this.#notice = notice;
    this.#onNotice?.(notice);
  }
}
