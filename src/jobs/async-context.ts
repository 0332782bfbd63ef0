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
const pieces = new AsyncLocalStorage<object>();

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
  return storage.exit(() => pieces.exit(work));
}

/** The unit, or step, below which this code runs, if it does. */
export function pieceHere(): object | undefined {
  return pieces.getStore();
}

/** Runs `work` as a unit, or a step, of a run. It should be small: what lives long may keep it. */
export function runPiece<Answer>(piece: object, work: () => Answer): Answer {
  return pieces.run(piece, work);
}

/** Runs `work` as part of a job's run. */
export function runAs<Answer>(run: RunHere, work: () => Answer): Answer {
  return storage.run(run, work);
}
