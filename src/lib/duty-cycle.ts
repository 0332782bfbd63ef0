/** Limits a slow task to 5 % of wall time. */
import { systemClock } from "./system.ts";

/** After a slow task of 1 ms, the next may start after 20 ms. */
const REST = 20;

export class DutyCycle {
  readonly #msMax: number;
  /** By the monotonic clock. */
  #until = 0;

  /** A task that takes at most `msMax` is not limited. */
  constructor(msMax: number) {
    this.#msMax = msMax;
  }

  /** Runs the task, or returns null while the task must pause. */
  async take<Answer>(work: () => Promise<Answer>): Promise<Answer | null> {
    const startedAt = systemClock.monotonic();
    if (startedAt < this.#until) return null;
    const answer = await work();
    const tookMs = systemClock.monotonic() - startedAt;
    if (tookMs > this.#msMax) this.#until = startedAt + tookMs * REST;
    return answer;
  }
}
