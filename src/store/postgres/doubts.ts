/**
 * Claims whose answer was lost. The secret of a lease is made here, so whether such a claim took
 * anything can be asked later: what bears the secret is its answer.
 */
import type { WorkerId } from "../store.ts";

/** Longer than the answer to a statement is waited for: the server may have fallen behind. */
const DOUBT_MS = 180_000;
/** The rest after a question that found nothing; twice as long after each further one. */
const REST_MS_MIN = 50;

/** A claim that may have taken something, and whether that only lies in a buffer. */
export interface Doubt {
  readonly worker: WorkerId;
  readonly secret: string;
  readonly buffer: boolean;
}

interface Times {
  readonly begunAt: number;
  readonly askAt: number;
  readonly restMs: number;
}

export class Doubts {
  readonly #monotonic: () => number;
  readonly #times = new Map<Doubt, Times>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  add(doubt: Doubt): void {
    const now = this.#monotonic();
    this.#times.set(doubt, { begunAt: now, askAt: now, restMs: REST_MS_MIN });
  }

  /** A worker's claims that nobody has heard of and that are to be asked about now. */
  due(worker: WorkerId): readonly Doubt[] {
    if (this.#times.size === 0) return [];
    const now = this.#monotonic();
    const isDue = (doubt: Doubt, { askAt }: Times): boolean =>
      doubt.worker === worker && askAt <= now;
    return [...this.#times].filter((entry) => isDue(...entry)).map(([doubt]) => doubt);
  }

  /** The store knows nothing of it, and after a while it never will. */
  miss(doubt: Doubt): void {
    const times = this.#times.get(doubt);
    if (times === undefined) return;
    const now = this.#monotonic();
    const { begunAt, restMs } = times;
    if (now - begunAt > DOUBT_MS) this.#times.delete(doubt);
    else this.#times.set(doubt, { begunAt, askAt: now + restMs, restMs: restMs * 2 });
  }

  settle(doubt: Doubt): void {
    this.#times.delete(doubt);
  }
}
