/**
 * The pending waits and the listeners of a mill and of the mills of its tenants. `close` of the
 * mill that was opened ends all of them, also those of a tenant whose mill is no longer cached.
 */
export class OpenCalls {
  readonly #closing = new AbortController();
  readonly #waits = new Set<Promise<unknown>>();
  readonly #listeners = new Set<() => void>();

  /** Aborts before the store closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  async waitFor<Answer>(wait: Promise<Answer>): Promise<Answer> {
    this.#waits.add(wait);
    try {
      return await wait;
    } finally {
      this.#waits.delete(wait);
    }
  }

  /** Returns the function that ends the listener. */
  addListener(end: () => void): () => void {
    const endOnce = (): void => {
      if (this.#listeners.delete(endOnce)) end();
    };
    this.#listeners.add(endOnce);
    return endOnce;
  }

  /** Every pending wait reads its job once more, then ends with STORE_CLOSED. */
  async end(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#waits);
    for (const end of this.#listeners) end();
  }
}
