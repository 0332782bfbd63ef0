/**
 * Tells the progress of one run: five times at once, then every 200 ms, which is at most ten times
 * within a second. What is told more often is replaced by what is newer.
 */
import type { Clock } from "../../core/clock.ts";
import type { RunProgress } from "../../store/types/notes.ts";

const PACE_MS = 200;
const AT_ONCE_MAX = 5;

export class ProgressThrottle {
  readonly #clock: Clock;
  readonly #store: (progress: RunProgress) => Promise<void>;
  /** When an even pace would tell the next one. */
  #dueAt = -Infinity;
  #waiting: Waiting | null = null;
  #stopTimer = (): void => {};

  constructor(clock: Clock, store: (progress: RunProgress) => Promise<void>) {
    this.#clock = clock;
    this.#store = store;
  }

  /**
   * Resolves when this, or newer progress, is stored. A rejection that nobody waits for harms
   * nobody.
   */
  tell(progress: RunProgress): Promise<void> {
    if (this.#waiting !== null) {
      this.#waiting.progress = progress;
      return this.#waiting.told;
    }
    const aheadMs = (AT_ONCE_MAX - 1) * PACE_MS;
    const leftMs = this.#dueAt - aheadMs - this.#clock.monotonic();
    return leftMs <= 0 ? this.#tellNow(progress) : this.#tellLater(progress, leftMs);
  }

  /** What waits is told now. */
  hurry(): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    this.#waiting = null;
    this.#stopTimer();
    waiting.tell(this.#tellNow(waiting.progress));
  }

  #tellNow(progress: RunProgress): Promise<void> {
    this.#dueAt = Math.max(this.#dueAt, this.#clock.monotonic()) + PACE_MS;
    return harmless(this.#store(progress));
  }

  #tellLater(progress: RunProgress, leftMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting = { progress, told: harmless(promise), tell: resolve };
    this.#stopTimer = this.#clock.after(leftMs, () => this.hurry());
    return promise;
  }
}

interface Waiting {
  progress: RunProgress;
  readonly told: Promise<void>;
  readonly tell: (stored: Promise<void>) => void;
}

/** Whoever waits for it hears of its failure, and otherwise nobody. */
function harmless(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}
