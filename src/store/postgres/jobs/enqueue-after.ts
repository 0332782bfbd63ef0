/** Resolves the `after` of new jobs to dependencies. */
import type { JobId } from "../../../core/job.ts";
import type { KeyHolders } from "../../shared/key-holders.ts";
import { AFTER_MAX, type EnqueueAnswer, type JobKey } from "../../types/jobs-and-runs.ts";
import { refusal } from "./enqueue-answers.ts";
import type { NumberedJob } from "./enqueue-order.ts";
import type { JobWriter } from "../database/session.ts";
import { uuids } from "../database/values.ts";

/** Keys by ids. Null: the dependency is final and was removed. A missing id is unknown. */
export type Dependencies = ReadonlyMap<JobId, JobKey | null>;

export async function findDependencies(
  transaction: JobWriter,
  jobs: readonly NumberedJob[],
  keyHolders: KeyHolders,
): Promise<Dependencies> {
  const ids = [...new Set(jobs.flatMap(({ interned }) => interned.job.after))];
  if (ids.length === 0) return new Map();
  const resolved = ids.map((id) => keyHolders.get(id) ?? id);
  const rows = await transaction.all("find_dependencies", { ids: uuids(resolved) });
  const keys = new Map(rows.map(({ id, key }) => [id, key]));
  const dependencies = new Map<JobId, JobKey | null>();
  ids.forEach((id, index) => {
    const named = resolved[index]!;
    if (keys.has(named) || keyHolders.has(id)) dependencies.set(id, keys.get(named) ?? null);
  });
  return dependencies;
}

/** Refuses a job with too many dependencies or an unknown one. Null: the job is valid. */
export function dependencyRefusal(
  { interned: { job } }: NumberedJob,
  dependencies: Dependencies,
): EnqueueAnswer | null {
  if (job.after.length > AFTER_MAX) return refusal(job);
  const missing = job.after.find((id) => !dependencies.has(id));
  if (missing === undefined) return null;
  const answer: EnqueueAnswer = { status: "refused", code: "AFTER_UNKNOWN", holder: missing };
  return answer;
}

/** A row of `dependency`. */
interface DependencyRow {
  readonly job: JobKey;
  readonly depends_on: JobKey;
  readonly tolerant: 0 | 1;
}

/** Several dependencies of one job may have resolved to the same key holder: one row. */
export function dependencyRows(
  jobs: readonly NumberedJob[],
  dependencies: Dependencies,
): readonly DependencyRow[] {
  return jobs.flatMap(({ interned: { job }, key }) => {
    const tolerant = job.onFailed === "run" ? 1 : 0;
    const keys = new Set(job.after.map((id) => dependencies.get(id) ?? null));
    return [...keys].flatMap((depends_on) =>
      depends_on === null ? [] : [{ job: key, depends_on, tolerant }],
    );
  });
}
