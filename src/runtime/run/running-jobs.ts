/** The runs of one worker that have not ended. */
import { within, type Clock } from "../../core/clock.ts";
import type { Execution, RunInterruption } from "./execution.ts";
import { runKey, type RunName } from "./lock-queue.ts";

export class RunningJobs {
  readonly #clock: Clock;
  readonly #runs = new Map<string, { execution: Execution; ended: Promise<unknown> }>();

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
    this.#runs.set(runKey(execution.job), { execution, ended });
  }

  remove(run: RunName): void {
    this.#runs.delete(runKey(run));
  }

  interrupt(run: RunName, why: RunInterruption): void {
    this.#runs.get(runKey(run))?.execution.interrupt(why);
  }

  interruptAll(by: "stop" | "store"): void {
    for (const execution of this.executions) execution.interrupt({ type: "interrupted", by });
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
