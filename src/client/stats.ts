/** `mill.jobs.stats`: counts that stop at a maximum, and say so. */
import type { JobStats } from "../api/jobs.ts";
import type { JobStore } from "../store/store.ts";

const COUNT_MAX = 10_000;

type JobCount = Exclude<keyof JobStats, "atLeast" | "oldestQueuedMs">;

const COUNTS: readonly JobCount[] = ["scheduled", "queued", "held", "running", "failed"];

/** Each count reads one job more than it tells, so that an exact count is known to be exact. */
export async function countJobs(store: Pick<JobStore, "stats">): Promise<JobStats> {
  const found = await store.stats(COUNT_MAX + 1);
  const { isOldestExact, ...stats } = found;
  const stopped = COUNTS.filter((name) => found[name] > COUNT_MAX);
  const most = (name: JobCount): number => Math.min(found[name], COUNT_MAX);
  return {
    ...stats,
    scheduled: most("scheduled"),
    queued: most("queued"),
    held: most("held"),
    running: most("running"),
    failed: most("failed"),
    atLeast: isOldestExact ? stopped : [...stopped, "oldestQueuedMs"],
  };
}
