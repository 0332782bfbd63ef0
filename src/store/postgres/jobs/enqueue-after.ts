/** The dependencies of new jobs: their `after`, and code of the jobs that they repeat. */
import type { JobId } from "../../../core/job.ts";
import type { KeyHolders } from "../../shared/key-holders.ts";
import { AFTER_MAX, type EnqueueAnswer, type JobKey } from "../../types/jobs-and-runs.ts";
import { CHAIN_MAX } from "../../shared/limits.ts";
import { refusal } from "./enqueue-answers.ts";
import type { NumberedJob } from "./enqueue-order.ts";
import type { JobWriter } from "../database/session.ts";
import { uuids } from "../database/values.ts";

/** Jobs with code that one successor waits for. */
const CODE_MAX = 1_000;

export interface Dependencies {
  /** Keys by ids. Null: the dependency is final and was removed. A missing id is unknown. */
  readonly keys: ReadonlyMap<JobId, JobKey | null>;
  /** By the id of a repeated job: the negated keys of the jobs whose code must end first. */
  readonly code: ReadonlyMap<JobId, readonly JobKey[]>;
}

export async function findDependencies(
  transaction: JobWriter,
  jobs: readonly NumberedJob[],
  keyHolders: KeyHolders,
): Promise<Dependencies> {
  const [keys, code] = [
    await findAfter(transaction, jobs, keyHolders),
    await findCode(transaction, jobs),
  ];
  return { keys, code };
}

async function findCode(
  transaction: JobWriter,
  jobs: readonly NumberedJob[],
): Promise<Dependencies["code"]> {
  const ids = jobs.flatMap(({ interned: { job } }) => job.retryOf ?? []);
  const code = new Map<JobId, JobKey[]>();
  if (ids.length === 0) return code;
  const bounds = { depth: CHAIN_MAX, limit: CODE_MAX };
  const rows = await transaction.all("awaited_code", { ids: uuids([...new Set(ids)]), ...bounds });
  for (const { id, key } of rows) code.set(id, [...(code.get(id) ?? []), -key]);
  return code;
}

async function findAfter(
  transaction: JobWriter,
  jobs: readonly NumberedJob[],
  keyHolders: KeyHolders,
): Promise<Dependencies["keys"]> {
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
  { keys }: Dependencies,
): EnqueueAnswer | null {
  if (job.after.length > AFTER_MAX) return refusal(job);
  const missing = job.after.find((id) => !keys.has(id));
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
  { keys, code }: Dependencies,
): readonly DependencyRow[] {
  return jobs.flatMap(({ interned: { job }, key }) => {
    const tolerant = job.onFailed === "run" ? 1 : 0;
    const after = new Set(job.after.map((id) => keys.get(id) ?? null));
    const rows = [...after].flatMap((depends_on): DependencyRow[] =>
      depends_on === null ? [] : [{ job: key, depends_on, tolerant }],
    );
    const before = job.retryOf === null ? [] : (code.get(job.retryOf) ?? []);
    return [
      ...rows,
      ...before.map((depends_on) => ({ job: key, depends_on, tolerant: 1 as const })),
    ];
  });
}
