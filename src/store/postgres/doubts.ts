/**
 * Claims whose answer was lost. The secret of a lease is made here, so whether such a claim took
 * anything can be asked later: what bears the secret is its answer.
 */
import type { WorkerId } from "../store.ts";

/** Longer than the answer to a statement is waited for: the server may have fallen behind. */
const DOUBT_MS = 180_000;

interface Doubt {
  readonly worker: WorkerId;
  readonly secret: string;
  readonly until: number;
}

export class Doubts {
  readonly #monotonic: () => number;
  #doubts: readonly Doubt[] = [];

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  add(worker: WorkerId, secret: string): void {
    this.#doubts = [...this.#doubts, { worker, secret, until: this.#monotonic() + DOUBT_MS }];
  }

  /** The secrets of a worker's claims that nobody has heard of. */
  of(worker: WorkerId): readonly string[] {
    if (this.#doubts.length === 0) return [];
    const now = this.#monotonic();
    this.#doubts = this.#doubts.filter(({ until }) => until > now);
    return this.#doubts.filter((doubt) => doubt.worker === worker).map(({ secret }) => secret);
  }

  settle(secret: string): void {
    this.#doubts = this.#doubts.filter((doubt) => doubt.secret !== secret);
  }
}
