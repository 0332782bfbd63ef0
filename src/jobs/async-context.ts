/**
 * The job whose handler runs the current code, by AsyncLocalStorage. Jobs that a handler enqueues,
 * also in functions that it calls, inherit correlation, parent and tenant without the context.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { JobId } from "../core/job.ts";

export interface CurrentJob {
  readonly id: JobId;
  readonly correlationId: string;
  readonly tenant: string;
}

/** The run whose handler runs the current code. */
export interface CurrentRun {
  readonly job: CurrentJob;
  /** Called for unhandled rejections in the handler. */
  rejected?(error: unknown): void;
}

const runs = new AsyncLocalStorage<CurrentRun>();
const units = new AsyncLocalStorage<object>();

/** The job whose handler runs this code, if any. */
export function currentJob(): CurrentJob | undefined {
  return runs.getStore()?.job;
}

/** The run whose handler runs this code, if any. */
export function currentRun(): CurrentRun | undefined {
  return runs.getStore();
}

/** Runs `work` outside of any job, also if a handler has called this. */
export function runOutsideJobs<Answer>(work: () => Answer): Answer {
  return runs.exit(() => units.exit(work));
}

/** The unit or step that runs this code, if any. */
export function currentUnit(): object | undefined {
  return units.getStore();
}

/** Runs `work` as a unit or step. `unit` should be small: async resources keep it in memory. */
export function runInUnit<Answer>(unit: object, work: () => Answer): Answer {
  return units.run(unit, work);
}

/** Runs `work` as part of a run. */
export function runInJob<Answer>(run: CurrentRun, work: () => Answer): Answer {
  return runs.run(run, work);
}
