/** The runs of one worker that have not ended. */
import { within, type Clock } from "../../core/clock.ts";
import type { JobKey } from "../../store/types/jobs-and-runs.ts";
import type { Execution } from "./execution.ts";
import type { RunInterruption } from "../interruption.ts";
import { runKey, type RunName } from "./lock-queue.ts";

interface RunningJob {
  readonly execution: Execution;
  readonly ended: Promise<unknown>;
}

export class RunningJobs {
  readonly #clock: Clock;
  readonly #runs = new Map<string, RunningJob>();
  /** Handlers and units that go on after their runs, because they ignore their signals. */
  readonly #codeLeft = new Map<string, Promise<unknown>>();
  /** The last run of each job. */
  readonly #last = new Map<JobKey, RunningJob>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#runs.size;
  }

  get executions(): readonly Execution[] {
    return [...this.#runs.values()].map(({ execution }) => execution);
  }

  /** `ended` resolves when the run has ended and was removed. */
  add(execution: Execution, ended: Promise<unknown>): void {
    const run = { execution, ended };
    this.#runs.set(runKey(execution.job), run);
    this.#last.set(execution.job.key, run);
  }

  /** No run, and no code that a run has left behind. */
  get isIdle(): boolean {
    return this.#runs.size === 0 && !this.hasCodeLeft;
  }

  get hasCodeLeft(): boolean {
    return this.#codeLeft.size > 0;
  }

  /** Whether the run, or code that it has left behind, has not ended. */
  isHere(run: RunName): boolean {
    return this.#runs.has(runKey(run)) || this.#codeLeft.has(runKey(run));
  }

  remove({ job: run, codeLeft }: Pick<Execution, "job" | "codeLeft">): void {
    this.#runs.delete(runKey(run));
    if (codeLeft !== null) {
      const name = runKey(run);
      this.#codeLeft.set(name, codeLeft);
      void codeLeft.then(() => this.#codeLeft.delete(name));
    }
    if (this.#last.get(run.key)?.execution.job.n === run.n) this.#last.delete(run.key);
  }

  /**
   * A claim of a job proves that the store has ended its earlier runs. Interrupts an earlier run
   * that is still here, and answers its end: a job runs once at a time in one worker. Null: none.
   */
  endEarlier({ key, n }: RunName): Promise<unknown> | null {
    const earlier = this.#last.get(key);
    if (earlier === undefined || earlier.execution.job.n >= n) return null;
    earlier.execution.interrupt({ type: "interrupted", by: "store" });
    return earlier.ended;
  }

  interrupt(run: RunName, why: RunInterruption): void {
    this.#runs.get(runKey(run))?.execution.interrupt(why);
  }

  interruptAll(by: (RunInterruption & { type: "interrupted" })["by"]): void {
    for (const execution of this.executions) execution.interrupt({ type: "interrupted", by });
  }

  /** The expired lease of the worker was renewed. */
  leaseRenewed(): void {
    for (const execution of this.executions) execution.leaseRenewed();
  }

  /** Resolves when the runs of this moment have ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.ended));
  }

  /** The same, but at most `ms`. */
  async drain(ms: number): Promise<void> {
    if (this.#runs.size > 0) await within(this.#clock, ms, this.ended());
  }
}
