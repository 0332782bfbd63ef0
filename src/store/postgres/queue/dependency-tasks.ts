/**
 * What commits leave to be done for jobs that wait for others, in the background: see `after.ts`.
 * One errand is under way at a time; what is added meanwhile goes together in the next. It is best
 * effort: what is lost with this process is found by the next `proceed`.
 */
import type { JobKey } from "../../store.ts";

export interface Errand {
  /** New jobs that wait for others, some of which may be over already. */
  readonly dependants: readonly JobKey[];
  /** Whether jobs have ended that others wait for. */
  readonly isAwaited: boolean;
}

export class Errands {
  readonly #run: (errand: Errand) => Promise<void>;
  #next: Errand | null = null;
  #last: Promise<void> = Promise.resolve();

  constructor(run: (errand: Errand) => Promise<void>) {
    this.#run = run;
  }

  add({ dependants, isAwaited }: Errand): void {
    const next = this.#next;
    if (next === null) this.#last = this.#last.then(() => this.#runNext());
    this.#next = {
      dependants: [...(next?.dependants ?? []), ...dependants],
      isAwaited: isAwaited || next?.isAwaited === true,
    };
  }

  /** Resolves when all is done that was added so far. */
  async done(): Promise<void> {
    await this.#last;
  }

  async #runNext(): Promise<void> {
    const errand = this.#next;
    this.#next = null;
    if (errand === null) return;
    try {
      await this.#run(errand);
    } catch {
      // Whatever it was, the next `proceed` meets it too, and tells.
    }
  }
}
