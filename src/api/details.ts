/** All facts about one job, as `jobs.details` returns them. */
import type { AttemptView, JobView } from "./jobs.ts";
import type { ProgressView, UnitView } from "./progress.ts";

export interface JobDetails {
  readonly job: JobView;
  readonly progress: ProgressView;
  /** The first failed units, at most 20; `progress.units` counts them. */
  readonly failedUnits: readonly UnitView[];
  /** Every run that has ended, oldest first. */
  readonly attempts: readonly AttemptView[];
  /** The worker that runs the job, has prefetched it, or still executes code of an ended run. */
  readonly worker: JobWorkerView | null;
  /** The jobs in `after` that have not ended. */
  readonly waitsFor: JobLinks;
  /** The jobs that have this job in their `after` and wait for it. */
  readonly awaitedBy: JobLinks;
  /** The jobs that its handler has enqueued. */
  readonly children: JobCount;
}

export interface JobWorkerView {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** False when two heartbeats are missing. */
  readonly isAlive: boolean;
  /** The time since the last heartbeat, by the clock of the store. */
  readonly heartbeatAgoMs: number;
}

/** The first ten of the linked jobs, oldest first. */
export interface JobLinks {
  readonly ids: readonly string[];
  /** True when there are more than ten. */
  readonly more: boolean;
}

export interface JobCount {
  readonly count: number;
  /** True when the count stopped at its maximum of 1,000. */
  readonly atLeast: boolean;
}
