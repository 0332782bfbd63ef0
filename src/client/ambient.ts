/**
 * The job that is running here and now. What a handler enqueues, however deep below it, inherits
 * correlation, parent and tenant without being handed the context.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { JobId } from "../core/job.ts";

export interface RunningHere {
  readonly id: JobId;
  readonly correlationId: string;
  readonly tenant: string;
}

/** A run as the code below its handler knows it. */
export interface RunHere {
  readonly job: RunningHere;
  /** Hears of promises that its handler left behind and that were rejected. */
  rejected?(error: unknown): void;
}

const storage = new AsyncLocalStorage<RunHere>();

/** The job below whose handler this code runs, if it does. */
export function runningHere(): RunningHere | undefined {
  return storage.getStore()?.job;
}

/** The run below whose handler this code runs, if it does. */
export function runHere(): RunHere | undefined {
  return storage.getStore();
}

/** Runs `work` as part of no job, although one may have led to it. */
export function runOutside<Answer>(work: () => Answer): Answer {
  return storage.exit(work);
}

/** Runs `work` as part of a job's run. */
export function runAs<Answer>(run: RunHere, work: () => Answer): Answer {
  return storage.run(run, work);
}
