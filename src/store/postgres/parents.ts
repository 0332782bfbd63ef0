/** The jobs that new ones are to run after. */
import type { JobId } from "../../core/job.ts";
import { AFTER_MAX, type EnqueueAnswer, type JobKey } from "../store.ts";
import { refusal } from "./answers.ts";
import type { Bound } from "./keyed-waves.ts";
import type { Writing } from "./session.ts";
import { uuids } from "./values.ts";

/** Keys by ids. One that is not among them is not known. */
export type Parents = ReadonlyMap<JobId, JobKey>;

export async function findParents(transaction: Writing, jobs: readonly Bound[]): Promise<Parents> {
  const ids = [...new Set(jobs.flatMap(({ filed }) => filed.job.after))];
  if (ids.length === 0) return new Map();
  const rows = await transaction.all("find_parents", { ids: uuids(ids) });
  return new Map(rows.map(({ id, key }) => [id, key]));
}

/** The answer to a job that cannot be made because of those that it is to run after. */
export function parentRefusal(
  { filed: { job }, key }: Bound,
  parents: Parents,
): EnqueueAnswer | null {
  if (job.after.length > AFTER_MAX) return refusal(job);
  // One that is made later in the same call has a higher number, and is not there yet.
  const missing = job.after.find((id) => (parents.get(id) ?? key) >= key);
  if (missing === undefined) return null;
  const answer: EnqueueAnswer = { status: "refused", code: "AFTER_UNKNOWN", holder: missing };
  return answer;
}

/** Rows of `need`. */
export function needsOf(jobs: readonly Bound[], parents: Parents): object[] {
  return jobs.flatMap(({ filed: { job }, key }) => {
    const tolerant = job.onFailed === "run" ? 1 : 0;
    return [...new Set(job.after)].map((id) => ({ job: key, needs: parents.get(id), tolerant }));
  });
}
