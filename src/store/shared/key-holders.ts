/**
 * Jobs of one call that gave way to others because of a key: what is to run after one of them runs
 * after the other instead. If that is gone, because a key outlives its job, it is over and well.
 */
import type { JobId } from "../../core/job.ts";
import type { EnqueueAnswer } from "../types/jobs-and-runs.ts";

/** To whom, by the ids of those that gave way. */
export type KeyHolders = ReadonlyMap<JobId, JobId>;

/** Notes what became of a job. Of two with one id the last counts. */
export function noteKeyHolder(
  keyHolders: Map<JobId, JobId>,
  id: JobId,
  answer: EnqueueAnswer,
): void {
  if (answer.status === "existing" && answer.by !== "id") keyHolders.set(id, answer.id);
  else keyHolders.delete(id);
}
