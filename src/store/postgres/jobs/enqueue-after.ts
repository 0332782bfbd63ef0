/** The jobs that new ones are to run after. */
import type { JobId } from "../../../core/job.ts";
import type { GaveWay } from "../../shared/key-holders.ts";
import { AFTER_MAX, type EnqueueAnswer, type JobKey } from "../../store.ts";
import { refusal } from "./enqueue-answers.ts";
import type { Bound } from "./enqueue-order.ts";
import type { Writing } from "../database/session.ts";
import { uuids } from "../database/values.ts";

/** Keys by ids; null: it is over and gone. One that is not among them is not known. */
export type Parents = ReadonlyMap<JobId, JobKey | null>;

export async function findParents(
  transaction: Writing,
  jobs: readonly Bound[],
  gaveWay: GaveWay,
): Promise<Parents> {
  const ids = [...new Set(jobs.flatMap(({ filed }) => filed.job.after))];
  if (ids.length === 0) return new Map();
  const standing = ids.map((id) => gaveWay.get(id) ?? id);
  const rows = await transaction.all("find_parents", { ids: uuids(standing) });
  const keys = new Map(rows.map(({ id, key }) => [id, key]));
  const parents = new Map<JobId, JobKey | null>();
  ids.forEach((id, index) => {
    const key = keys.get(standing[index]!);
    if (key !== undefined || gaveWay.has(id)) parents.set(id, key ?? null);
  });
  return parents;
}

/** The answer to a job that cannot be made because of those that it is to run after. */
export function parentRefusal({ filed: { job } }: Bound, parents: Parents): EnqueueAnswer | null {
  if (job.after.length > AFTER_MAX) return refusal(job);
  const missing = job.after.find((id) => !parents.has(id));
  if (missing === undefined) return null;
  const answer: EnqueueAnswer = { status: "refused", code: "AFTER_UNKNOWN", holder: missing };
  return answer;
}

/** A row of `need`. */
interface Need {
  readonly job: JobKey;
  readonly needs: JobKey;
  readonly tolerant: 0 | 1;
}

/** Several of those that a job names may have given way to the same one. */
export function needsOf(jobs: readonly Bound[], parents: Parents): readonly Need[] {
  return jobs.flatMap(({ filed: { job }, key }) => {
    const tolerant = job.onFailed === "run" ? 1 : 0;
    const keys = new Set(job.after.map((id) => parents.get(id) ?? null));
    return [...keys].flatMap((needs) => (needs === null ? [] : [{ job: key, needs, tolerant }]));
  });
}
