/**
 * Limits how often the progress of one run is stored: five reports at once, then one every 200 ms,
 * which is at most ten within a second. A newer report replaces one that waits.
 */
import type { Clock } from "../../core/clock.ts";
import type { RunProgress } from "../../store/types/notes.ts";

const INTERVAL_MS = 200;
const BURST_MAX = 5;

export class ProgressThrottle {
  readonly #clock: Clock;
  readonly #store: (progress: RunProgress) => Promise<void>;
  /** When the next report would be due without a burst. */
  #dueAt = -Infinity;
  #pending: PendingProgress | null = null;
  #stopTimer = (): void => {};

  constructor(clock: Clock, store: (progress: RunProgress) => Promise<void>) {
    this.#clock = clock;
    this.#store = store;
  }

  /**
   * Resolves when this or newer progress is stored. A rejection that is not awaited does not count
   * as unhandled.
   */
  report(progress: RunProgress): Promise<void> {
    if (this.#pending !== null) {
      this.#pending.progress = progress;
      return this.#pending.stored;
    }
    const aheadMs = (BURST_MAX - 1) * INTERVAL_MS;
    const leftMs = this.#dueAt - aheadMs - this.#clock.monotonic();
    return leftMs <= 0 ? this.#storeNow(progress) : this.#storeLater(progress, leftMs);
  }

  /** Stores a waiting report now. */
  flush(): void {
    const pending = this.#pending;
    if (pending === null) return;
    this.#pending = null;
    this.#stopTimer();
    pending.resolve(this.#storeNow(pending.progress));
  }

  #storeNow(progress: RunProgress): Promise<void> {
    this.#dueAt = Math.max(this.#dueAt, this.#clock.monotonic()) + INTERVAL_MS;
    return handled(this.#store(progress));
  }

  #storeLater(progress: RunProgress, leftMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pending = { progress, stored: handled(promise), resolve };
    this.#stopTimer = this.#clock.after(leftMs, () => this.flush());
    return promise;
  }
}

interface PendingProgress {
  progress: RunProgress;
  readonly stored: Promise<void>;
  readonly resolve: (stored: Promise<void>) => void;
}

/** The caller may await the promise, but need not. */
function handled(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}
