/**
 * Jobs without a row: a row that was deleted by hand leaves its key in leases and other tables.
 * Each verb skips such a job, names it in its answer or in a warning, and goes on with the others.
 */
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { Session } from "../database/session.ts";
import { dropCancelRequests } from "./cancel-requests.ts";
import { releaseRunLocks } from "./locks.ts";

interface SplitRuns<Run> {
  readonly present: readonly Run[];
  readonly missing: readonly JobKey[];
}

/** Splits runs into those whose job has a row, and the keys of the others. */
export function splitMissing<Run extends { readonly key: JobKey }>(
  { sql }: Session,
  runs: readonly Run[],
): SplitRuns<Run> {
  const keys = JSON.stringify(runs.map(({ key }) => key));
  const missing = new Set(sql.all("missing_jobs", { keys }).map(({ key }) => key));
  if (missing.size === 0) return { present: runs, missing: [] };
  return { present: runs.filter(({ key }) => !missing.has(key)), missing: [...missing] };
}

/** Removes locks, keys, requests and dependencies of jobs without a row. */
export function dropMissing(session: Session, missing: readonly JobKey[]): void {
  if (missing.length === 0) return;
  const { sql } = session;
  const keys = JSON.stringify(missing);
  releaseRunLocks(session, missing);
  dropCancelRequests(session, missing);
  sql.run("delete_dedup", { keys });
  sql.run("delete_dependencies", { keys });
}
