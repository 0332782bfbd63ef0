/**
 * Runs that the store knows as started, and whose handlers have not been called: no handler is
 * called after its worker was told that the run is to end.
 */
import type { JobKey } from "../../../src/store/types/jobs-and-runs.ts";
import type { Verb } from "../../../src/store/verbs.ts";
import type { World } from "../fleet/world.ts";
import type { Report } from "./invariants.ts";
import { hexOf } from "./snapshot.ts";

interface MarkedRunsParts {
  readonly world: World;
  readonly report: Report;
  readonly count: (name: string) => void;
}

export class MarkedRuns {
  readonly #parts: MarkedRunsParts;
  /** Runs that workers have claimed, as id and fence: by key and number, and by fence and key. */
  readonly #byNumber = new Map<string, string>();
  readonly #byFence = new Map<string, string>();
  /** Runs whose start a worker has heard of. Their handlers have not been called. */
  readonly #marked = new Set<string>();
  /** In which step their worker was told that they are to end. */
  readonly #told = new Map<string, number>();

  constructor(parts: MarkedRunsParts) {
    this.#parts = parts;
  }

  /** An answer has arrived at its worker. */
  delivered(verb: Verb, args: readonly any[], answer: any): void {
    if (verb === "claim" && answer.lease !== null) {
      for (const { id, key, n } of answer.jobs) this.#claimed(answer.lease.number, id, key, n);
    }
    if (verb === "startPrefetched") {
      for (const key of answer.begun) {
        const run = this.#byFence.get(`${args[0].number}.${key}`);
        if (run !== undefined) this.#marked.add(run);
      }
    }
    if (verb !== "renew" || answer.status !== "renewed") return;
    for (const { key, n } of [...answer.cancel, ...answer.ended]) {
      const run = this.#byNumber.get(`${key}.${n}`);
      if (run === undefined || !this.#marked.has(run) || this.#told.has(run)) continue;
      this.#told.set(run, this.#parts.world.steps);
      this.#parts.count("job that waits for a slot is to end");
    }
  }

  /** A handler is called. */
  began(id: string, fence: number): void {
    const run = `${id}.${fence}`;
    const { world, report } = this.#parts;
    const isTold = (this.#told.get(run) ?? Infinity) < world.steps;
    if (isTold) report("I8", `job ${id} began after its worker was told that it is to end`);
    this.#marked.delete(run);
  }

  #claimed(fence: number, id: string, key: JobKey, n: number): void {
    const run = `${hexOf(id)}.${fence}`;
    this.#byNumber.set(`${key}.${n}`, run);
    this.#byFence.set(`${fence}.${key}`, run);
  }
}
