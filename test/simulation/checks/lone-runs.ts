/** A job at the crash cap runs alone: its process runs no other handler meanwhile. */
import type { Report } from "./invariants.ts";
import type { Handler } from "./outages.ts";
import type { Snapshot } from "./snapshot.ts";

interface LoneRunsParts {
  readonly report: Report;
  readonly committed: () => Snapshot;
}

export class LoneRuns {
  readonly #parts: LoneRunsParts;
  readonly #handlers = new Set<Handler>();

  constructor(parts: LoneRunsParts) {
    this.#parts = parts;
  }

  /** Compares a handler that begins with the other handlers of its process. */
  async watch<Result>(handler: Handler, work: () => Promise<Result>): Promise<Result> {
    for (const other of this.#handlers) {
      const isBeside = other.process === handler.process && other.fence !== handler.fence;
      if (isBeside && (this.#isAlone(handler) || this.#isAlone(other))) {
        this.#parts.report(
          "I7",
          `run ${handler.fence} begins beside run ${other.fence}: one is alone`,
        );
      }
    }
    this.#handlers.add(handler);
    try {
      return await work();
    } finally {
      this.#handlers.delete(handler);
    }
  }

  /** A run that was taken from its worker is not alone any more. */
  #isAlone({ fence }: Handler): boolean {
    return this.#parts.committed().leases.get(fence)?.alone === 1;
  }
}
