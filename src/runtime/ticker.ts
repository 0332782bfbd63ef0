/**
 * Repeats a tick: after a delay, and at every wake-up.
 *
 * Ticks never overlap. A wake-up during a tick causes another tick right after it, so no wake-up is
 * lost. A tick returns the delay until the next one; a tick that throws is reported and retried.
 */
import type { Clock } from "../core/clock.ts";

export interface TickerParts {
  readonly clock: Clock;
  /** Returns the milliseconds until the next tick. */
  readonly tick: () => Promise<number>;
  readonly failed: (error: unknown) => void;
  readonly retryMs: number;
}

export class Ticker {
  readonly #parts: TickerParts;
  #stopTimer = (): void => {};
  #ticking: Promise<void> | null = null;
  #again = false;
  #stopped = false;

  constructor(parts: TickerParts) {
    this.#parts = parts;
  }

  /** Ticks now, or right after the current tick. */
  wake(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#ticking ??= this.#run();
  }

  /** A long tick ends early once this is true. */
  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Resolves when the current tick has ended. */
  async tickEnded(): Promise<void> {
    await this.#ticking;
  }

  /** Resolves when the current tick has ended. There is no tick afterwards. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopTimer();
    await this.#ticking;
  }

  async #run(): Promise<void> {
    let nextMs = 0;
    while (this.#again && !this.#stopped) {
      this.#again = false;
      this.#stopTimer();
      nextMs = await this.#tick();
    }
    this.#ticking = null;
    if (!this.#stopped) this.#stopTimer = this.#parts.clock.after(nextMs, () => this.wake());
  }

  async #tick(): Promise<number> {
    try {
      return await this.#parts.tick();
    } catch (error) {
      this.#parts.failed(error);
      return this.#parts.retryMs;
    }
  }
}
