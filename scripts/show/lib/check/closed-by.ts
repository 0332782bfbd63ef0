import type { StoredJob } from "../fleet/history.ts";

/** True when the store had ended this run by then, and not as a success. */
export function wasClosedBy(
  stored: StoredJob,
  run: { readonly fence: number },
  at: number,
): boolean {
  const record = stored.attempts.find(({ fence }) => fence === run.fence);
  return record !== undefined && record.outcome !== "succeeded" && record.finishedAt <= at;
}
