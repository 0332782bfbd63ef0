/**
 * What commits leave to be done for jobs that wait for others, in the background: see `after.ts`.
 * One dependency task is under way at a time; what is added meanwhile goes together in the next. It
 * is best effort: what is lost with this process is found by the next `resolveDependencies`.
 */
import type { JobKey } from "../../types/jobs-and-runs.ts";

export interface DependencyTask {
  /** New jobs that wait for others, some of which may be over already. */
  readonly dependants: readonly JobKey[];
  /** Whether jobs have ended that others wait for. */
  readonly isAwaited: boolean;
}

export class DependencyTasks {
  readonly #run: (dependencyTask: DependencyTask) => Promise<void>;
  #next: DependencyTask | null = null;
  #last: Promise<void> = Promise.resolve();

  constructor(run: (dependencyTask: DependencyTask) => Promise<void>) {
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

  /** Resolves when all is done that was added so far. */
  async done(): Promise<void> {
    await this.#last;
  }

  async #runNext(): Promise<void> {
    const dependencyTask = this.#next;
    this.#next = null;
    if (dependencyTask === null) return;
    try {
      await this.#run(dependencyTask);
    } catch {
      // Whatever it was, the next `resolveDependencies` meets it too, and tells.
    }
  }
}
