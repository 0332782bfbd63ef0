/** Cancel requests for running jobs. */
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { Session } from "../database/session.ts";

/** The jobs with a cancel request, and the reasons given. */
export function findCancelRequests(
  { sql }: Session,
  keys: readonly JobKey[],
): ReadonlyMap<JobKey, string | null> {
  const rows = sql.all("find_cancel_requests", { keys: JSON.stringify(keys) });
  return new Map(rows.map(({ key, reason }) => [key, reason]));
}

/** Deletes requests that were met or came too late. */
export function dropCancelRequests({ sql }: Session, keys: readonly JobKey[]): void {
  if (keys.length > 0) sql.run("delete_cancel_requests", { keys: JSON.stringify(keys) });
}
