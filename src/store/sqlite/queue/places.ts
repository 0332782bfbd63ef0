/** Puts jobs into the places where they wait, and takes them out. */
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { WaitingRow } from "../database/rows.ts";
import type { Session } from "../database/session.ts";

/** A job on its way into a place where it waits. */
export type WaitingJob = WaitingRow;

/** Puts a job where it belongs by its due time: `ready` when that has come, else `scheduled`. */
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

/** Puts a job back into `ready` exactly as it lay there. */
export function putBack({ sql, outbox }: Session, job: WaitingJob): void {
  outbox.wake();
  sql.run("insert_ready", { ...job });
}

/** Takes a waiting job out of whichever place it lies in. */
export function takeWaiting({ sql }: Session, key: JobKey): WaitingJob | undefined {
  return (
    sql.get("take_ready", { key }) ??
    sql.get("take_scheduled", { key }) ??
    sql.get("take_blocked", { key })
  );
}
