/** The jobs that new ones are to run after. */
import type { JobId } from "../../../core/job.ts";
import type { KeyHolders } from "../../shared/key-holders.ts";
import { AFTER_MAX, type EnqueueAnswer, type JobKey } from "../../types/jobs-and-runs.ts";
import { refusal } from "./enqueue-answers.ts";
import type { Bound } from "./enqueue-order.ts";
import type { JobWriter } from "../database/session.ts";
import { uuids } from "../database/values.ts";

/** Keys by ids; null: it is over and gone. One that is not among them is not known. */
export type Dependencies = ReadonlyMap<JobId, JobKey | null>;

export async function findDependencies(
  transaction: JobWriter,
  jobs: readonly Bound[],
  keyHolders: KeyHolders,
): Promise<Dependencies> {
  const ids = [...new Set(jobs.flatMap(({ filed }) => filed.job.after))];
  if (ids.length === 0) return new Map();
  const standing = ids.map((id) => keyHolders.get(id) ?? id);
  const rows = await transaction.all("find_dependencies", { ids: uuids(standing) });
  const keys = new Map(rows.map(({ id, key }) => [id, key]));
  const dependencies = new Map<JobId, JobKey | null>();
  ids.forEach((id, index) => {
    const key = keys.get(standing[index]!);
    if (key !== undefined || keyHolders.has(id)) dependencies.set(id, key ?? null);
  });
  return dependencies;
}

/** The answer to a job that cannot be made because of those that it is to run after. */
export function dependencyRefusal(
  { filed: { job } }: Bound,
  dependencies: Dependencies,
): EnqueueAnswer | null {
  if (job.after.length > AFTER_MAX) return refusal(job);
  const missing = job.after.find((id) => !dependencies.has(id));
  if (missing === undefined) return null;
  const answer: EnqueueAnswer = { status: "refused", code: "AFTER_UNKNOWN", holder: missing };
  return answer;
}

/** A row of `need`. */
interface Need {
  readonly job: JobKey;
  readonly depends_on: JobKey;
  readonly tolerant: 0 | 1;
}

/** Several of those that a job names may have given way to the same one. */
export function dependencyRows(
  jobs: readonly Bound[],
  dependencies: Dependencies,
): readonly Need[] {
  return jobs.flatMap(({ filed: { job }, key }) => {
    const tolerant = job.onFailed === "run" ? 1 : 0;
    const keys = new Set(job.after.map((id) => dependencies.get(id) ?? null));
    return [...keys].flatMap((depends_on) =>
      depends_on === null ? [] : [{ job: key, depends_on, tolerant }],
    );
  });
}
