/**
 * Since when the renewals of the own worker have succeeded without a gap.
 *
 * While a store accepts no writes, no worker can renew its lease, and every worker looks dead. Only
 * a worker whose own renewals succeed knows that the others could have renewed as well. A failed
 * renewal ends the span, and so does an answer that comes half a lease after the one before: on
 * SQLite a renewal waits for the end of a write lock and then succeeds.
 */

/** Times of the monotonic clock. */
export interface SteadySpan {
  /** When the first renewal was answered. */
  readonly from: number;
  /** When the last renewal that succeeded was sent. */
  readonly until: number;
}

export interface AnsweredRenewal {
  readonly sentAt: number;
  readonly answeredAt: number;
}

const GAPS_PER_LEASE = 2;

export class Steadiness {
  readonly #gapMs: number;
  #span: SteadySpan | null = null;
  #answeredAt = -Infinity;

  constructor(leaseMs: number) {
    this.#gapMs = leaseMs / GAPS_PER_LEASE;
  }

  /** Null: the last renewal failed, or there was none. */
  get span(): SteadySpan | null {
    return this.#span;
  }

  succeeded({ sentAt, answeredAt }: AnsweredRenewal): void {
    const isLate = answeredAt - this.#answeredAt > this.#gapMs;
    // Answers to the thread and to the event loop may arrive in another order.
    this.#answeredAt = Math.max(this.#answeredAt, answeredAt);
    const last = isLate ? null : this.#span;
    const from = last?.from ?? answeredAt;
    this.#span = { from, until: Math.max(last?.until ?? from, sentAt) };
  }

  failed(): void {
    this.#span = null;
  }
}
