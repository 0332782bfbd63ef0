/** `mill.jobs.details`: all facts about one job, each list with a maximum. */
import type { JobCount, JobDetails, JobLinks, JobWorkerView } from "../api/details.ts";
import type { JobId } from "../core/job.ts";
import { attemptView, isOverdue, jobView } from "../jobs/views.ts";
import type { JobStore } from "../store/store.ts";
import type { MatchCount } from "../store/types/lists.ts";
import type { JobHolder, JobRecord } from "../store/types/records.ts";
import { listUnits, progressOf } from "./progress.ts";

const LINKS_MAX = 10;
const FAILED_UNITS_MAX = 20;
const CHILDREN_MAX = 1_000;

/** `names` are the phases of the definition, as far as this process knows it. */
export async function detailsOf(
  store: JobStore,
  job: JobRecord,
  names: readonly string[],
): Promise<JobDetails> {
  const { id } = job;
  const failed = { state: "failed", limit: FAILED_UNITS_MAX } as const;
  return {
    job: jobView(job),
    progress: await progressOf(store, job, names),
    failedUnits: (await listUnits(store, job, names, failed)).units,
    attempts: (await store.attempts(id)).map(attemptView),
    worker: workerOf(await store.holder(id)),
    waitsFor: linksOf(await store.openDependencies(id, LINKS_MAX + 1)),
    awaitedBy: linksOf(await store.dependants(id, LINKS_MAX + 1)),
    children: childrenOf(await store.count({ parentId: id }, CHILDREN_MAX + 1)),
  };
}

function workerOf(holder: JobHolder | null): JobWorkerView | null {
  if (holder === null) return null;
  const { id, host, pid, beatAgoMs } = holder;
  return { id, host, pid, isAlive: !isOverdue(holder), heartbeatAgoMs: Math.max(0, beatAgoMs) };
}

function linksOf(ids: readonly JobId[]): JobLinks {
  return { ids: ids.slice(0, LINKS_MAX), more: ids.length > LINKS_MAX };
}

function childrenOf({ count, isExact }: MatchCount): JobCount {
  return { count: Math.min(count, CHILDREN_MAX), atLeast: count > CHILDREN_MAX || !isExact };
}
