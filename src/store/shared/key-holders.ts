/**
 * Maps the rejected duplicates of one call to the jobs that hold their keys. A dependency on a
 * duplicate is a dependency on the key holder. If the key holder was removed, because an
 * idempotency key outlives its job, the dependency counts as completed.
 */
import type { JobId } from "../../core/job.ts";
import type { EnqueueAnswer, NewJob } from "../types/jobs-and-runs.ts";

/** The key holder of each duplicate, by the id of the duplicate. */
export type KeyHolders = ReadonlyMap<JobId, JobId>;

/** Adds the answer for one job. If a call names the same id twice, the last answer counts. */
export function noteKeyHolder(
  keyHolders: Map<JobId, JobId>,
  id: JobId,
  answer: EnqueueAnswer,
): void {
  if (answer.status === "existing" && answer.by !== "id") keyHolders.set(id, answer.id);
  else keyHolders.delete(id);
}

/** The id of a child that gave way. From now on it names the key holder. */
export interface Alias {
  readonly id: JobId;
  readonly holder: JobId;
  readonly parent: JobId;
}

/**
 * The aliases of children that gave way. The run that enqueued a child got its id before the store
 * answered, and a later phase or run may name the child.
 */
export function aliasesOf(
  children: readonly NewJob[],
  answers: readonly EnqueueAnswer[],
): readonly Alias[] {
  return children.flatMap(({ id, parentId: parent }, index) => {
    const answer = answers[index];
    if (answer?.status !== "existing" || answer.by === "id" || parent === null) return [];
    return [{ id, holder: answer.id, parent }];
  });
}
