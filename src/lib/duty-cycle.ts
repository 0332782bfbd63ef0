/** Keeps what takes long from being done often. */
import { systemClock } from "./system.ts";

/** It may take a twentieth of the time. */
const REST = 20;

export class DutyCycle {
  readonly #msMax: number;
  /** By the steady clock. */
  #until = 0;

  /** What takes no longer than `msMax` needs no rest. */
  constructor(msMax: number) {
    this.#msMax = msMax;
  }

  /** Does the work, if it is not resting; else the answer is null. */
  async take<Answer>(work: () => Promise<Answer>): Promise<Answer | null> {
    const began = systemClock.monotonic();
    if (began < this.#until) return null;
    const answer = await work();
    const tookMs = systemClock.monotonic() - began;
    if (tookMs > this.#msMax) this.#until = began + tookMs * REST;
    return answer;
  }
}
