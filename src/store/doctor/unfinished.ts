/** Checks of doctor that a limit of time has cut. Each is named, and the others go on. */

export interface UnfinishedCheck {
  readonly check: string;
  readonly afterMs: number;
}

export class UnfinishedChecks {
  readonly #monotonic: () => number;
  readonly #isTimeout: (error: unknown) => boolean;
  readonly #unfinished: UnfinishedCheck[] = [];

  constructor(monotonic: () => number, isTimeout: (error: unknown) => boolean) {
    this.#monotonic = monotonic;
    this.#isTimeout = isTimeout;
  }

  get all(): readonly UnfinishedCheck[] {
    return this.#unfinished;
  }

  /** Runs one check. Answers `otherwise` if the time was not enough. */
  async run<Answer>(
    check: string,
    otherwise: Answer,
    work: () => Promise<Answer>,
  ): Promise<Answer> {
    const startedAt = this.#monotonic();
    try {
      return await work();
    } catch (error) {
      if (!this.#isTimeout(error)) throw error;
      this.#unfinished.push({ check, afterMs: this.#monotonic() - startedAt });
      return otherwise;
    }
  }
}
