/** What the workers of running jobs were asked to stop. */
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { Session } from "../database/session.ts";

/** Which of these jobs somebody asked to cancel, and why. */
export function findCancelRequests(
  { sql }: Session,
  keys: readonly JobKey[],
): ReadonlyMap<JobKey, string | null> {
  const rows = sql.all("find_cancel_requests", { keys: JSON.stringify(keys) });
  return new Map(rows.map(({ key, reason }) => [key, reason]));
}

/** The requests were met, or came too late. */
export function dropCancelRequests({ sql }: Session, keys: readonly JobKey[]): void {
  if (keys.length > 0) sql.run("delete_cancel_requests", { keys: JSON.stringify(keys) });
}
