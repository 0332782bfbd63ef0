/**
 * A loop that exposes its tick: the timer calls it, a wake-up calls it, a test calls it.
 *
 * Ticks never overlap. A wake-up during one leads to another right after it, so none is lost. A
 * tick answers how long to wait for the next; one that throws is reported and tried again later.
 */
import type { Clock } from "../core/clock.ts";

export interface TickerParts {
  readonly clock: Clock;
  /** Does the work; answers the milliseconds until the next tick. */
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

  /** Ticks now, or right after the tick that is under way. */
  wake(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#ticking ??= this.#run();
  }

  /** Resolves when the tick under way has ended; there will be no other. */
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
