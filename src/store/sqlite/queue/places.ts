/** The places where jobs wait: `ready`, `scheduled` and `blocked`. */
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { WaitingRow } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";

/** The row of a waiting job. */
export type WaitingJob = WaitingRow;

/** Inserts a job by its due time: into `ready` if it is due, else into `scheduled`. */
export function putWaiting(
  { sql, outbox }: Session,
  job: WaitingJob,
  runAt: number,
  now: number,
): "scheduled" | "queued" {
  outbox.wake();
  if (runAt > now) {
    sql.run("insert_scheduled", { ...job, run_at: runAt });
    return "scheduled";
  }
  sql.run("insert_ready", { ...job, rank: runAt * 1000 });
  return "queued";
}

/** Returns a job to `ready` with its old rank. */
export function putBack({ sql, outbox, state }: Session, job: WaitingJob): void {
  outbox.wake();
  // Claims may have passed its old place.
  state.claimCursors.forget();
  sql.run("insert_ready", { ...job });
}

/** Removes a waiting job from its place; undefined if the job does not wait. */
export function takeWaiting({ sql }: Session, key: JobKey): WaitingJob | undefined {
  return (
    sql.get("take_ready", { key }) ??
    sql.get("take_scheduled", { key }) ??
    sql.get("take_blocked", { key })
  );
}
