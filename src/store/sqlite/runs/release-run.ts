/** What every end brings with it, however the run or the wait has ended. */
import type { FinalState } from "../../../core/job.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { Session } from "../database/session.ts";
import { releaseRunLocks } from "./locks.ts";

/** How a run, or a wait, has ended. */
export interface Ended {
  readonly key: JobKey;
  /** Null when the job goes on. */
  readonly state: FinalState | null;
}

/**
 * The run gives up what it had; a job that is over also its dedup key, and what it waited for
 * itself. Answers whether others wait for the end of any of them: then `resolveDependencies` has to
 * be called.
 */
export function closeEnds(session: Session, ends: readonly Ended[]): boolean {
  if (ends.length === 0) return false;
  const { sql } = session;
  releaseRunLocks(
    session,
    ends.map(({ key }) => key),
  );
  const over = ends.filter(({ state }) => state !== null).map(({ key }) => key);
  if (over.length === 0) return false;
  const keys = JSON.stringify(over);
  sql.run("delete_dedup", { keys });
  sql.run("delete_dependencies", { keys });
  return sql.run("insert_finished_dependency", { keys }).changes > 0;
}
