/** What a script is made of. */
import type { JobId } from "../../src/core/job.ts";
import type { SqliteJobStore } from "../../src/store/sqlite/store.ts";
import type { NewJob } from "../../src/store/types/jobs-and-runs.ts";
import type { Batch } from "../support/steps.ts";
import type { VirtualClock } from "../support/virtual-clock.ts";

/** A step that was answered. */
export interface Step {
  readonly name: string;
  /** `relaxed`: the answer outlives the process, but is not promised to outlive the power. */
  readonly promise: "durable" | "relaxed";
}

export interface Scene {
  readonly clock: VirtualClock;
  /** The file of the database. */
  readonly path: string;
  readonly job: (overrides?: Partial<NewJob>) => NewJob;
  readonly worker: JobId;
  readonly patiently: Patience;
}

/** Asks once, or until the disk lets it. */
export type Patience = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>;

/** A script: what it does before the store is copied, closed and opened again, and after that. */
export interface Life {
  /** Answers a run that is still held. */
  before(store: SqliteJobStore, scene: Scene): AsyncGenerator<Step, Batch>;
  after(store: SqliteJobStore, scene: Scene, held: Batch): AsyncGenerator<Step, void>;
}

export function did(name: string): Step {
  return { name, promise: "durable" };
}
