/**
 * Runs dependency tasks after commits, one at a time, best effort. Tasks that are added while one
 * runs are merged into the next. A task that is lost with the process is made up for by the next
 * `resolveDependencies`.
 */
import type { JobKey } from "../../types/jobs-and-runs.ts";

export interface DependencyTask {
  /** New jobs with dependencies, some of which may be final already. */
  readonly dependants: readonly JobKey[];
  /** Whether jobs have finished that other jobs depend on. */
  readonly isAwaited: boolean;
}

export class DependencyTasks {
  readonly #run: (task: DependencyTask) => Promise<void>;
  #next: DependencyTask | null = null;
  #last: Promise<void> = Promise.resolve();

  constructor(run: (task: DependencyTask) => Promise<void>) {
    this.#run = run;
  }

  add({ dependants, isAwaited }: DependencyTask): void {
    const next = this.#next;
    if (next === null) this.#last = this.#last.then(() => this.#runNext());
    this.#next = {
      dependants: [...(next?.dependants ?? []), ...dependants],
      isAwaited: isAwaited || next?.isAwaited === true,
    };
  }

  /** Resolves when all tasks added so far have run. */
  async done(): Promise<void> {
    await this.#last;
  }

  async #runNext(): Promise<void> {
    const task = this.#next;
    this.#next = null;
    if (task === null) return;
    try {
      await this.#run(task);
    } catch {
      // The next `resolveDependencies` meets the same error and reports it.
    }
  }
}
