/** The progress of the current phase of a run, from reports of the handler and ends of units. */
import type { JsonText } from "../../core/job.ts";
import { percentOfPhase } from "../../core/progress.ts";

export class CurrentPhase {
  #reported = 0;
  #data: JsonText | null = null;
  #ended = 0;
  #total = 0;

  get percent(): number {
    return percentOfPhase({
      reported: this.#reported,
      units: { ended: this.#ended, total: this.#total },
    });
  }

  /** The data of the last report. */
  get data(): JsonText | null {
    return this.#data;
  }

  report(percent: number, data: JsonText | null): void {
    this.#reported = percent;
    this.#data = data;
  }

  /** Units are planned or end. True: the percent has changed. */
  countUnits({ total = 0, ended = 0 }: { total?: number; ended?: number }): boolean {
    const before = this.percent;
    this.#total += total;
    this.#ended += ended;
    return this.percent !== before;
  }
}
