/** Warnings for the operator. Each is reported once, also to a listener that is added later. */
import type { JobKey } from "../types/jobs-and-runs.ts";

/** The maximum of different warnings of one store. Further ones are left to `millrace doctor`. */
const WARNINGS_MAX = 1_000;

export class OperatorWarnings {
  readonly #reported = new Set<string>();
  #listener: ((warning: string) => void) | null = null;

  report(warning: string): void {
    if (this.#reported.has(warning) || this.#reported.size >= WARNINGS_MAX) return;
    this.#reported.add(warning);
    this.#listener?.(warning);
  }

  /** Jobs without a row, which `verb` has skipped. */
  reportMissing(verb: string, keys: Iterable<JobKey>): void {
    for (const key of keys) {
      this.report(
        `${verb} skipped the job with the key ${key}, which has no row in the table job. The row ` +
          "was probably deleted by hand. millrace doctor --fix removes the rest of the job.",
      );
    }
  }

  /** Jobs without a row, whose dedup keys `enqueue` has freed. */
  reportFreedKeys(keys: Iterable<JobKey>): void {
    for (const key of keys) {
      this.report(
        `enqueue freed the dedup key of the job with the key ${key}, which has no row in the ` +
          "table job. The row was probably deleted by hand. millrace doctor --fix removes the " +
          "rest of the job.",
      );
    }
  }

  listen(listener: (warning: string) => void): void {
    this.#listener = listener;
    for (const warning of this.#reported) listener(warning);
  }
}
