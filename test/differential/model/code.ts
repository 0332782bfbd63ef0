/** Code that goes on after its run has ended in the store. */
import type { JobId } from "../../../src/core/job.ts";
import type { CodeReport, JobKey, WorkerId } from "../../../src/store/types/jobs-and-runs.ts";
import { jobNamed, type ModelJob, type World } from "./world.ts";

export function reportCode(
  world: World,
  id: WorkerId,
  { left = [], ended = [] }: CodeReport,
): void {
  const worker = world.workers.get(id);
  if (worker === undefined) return;
  const isAmong = (runs: typeof left, { key, n }: { key: JobKey; n: number }): boolean =>
    runs.some((run) => run.key === key && run.n === n);
  worker.ended.push(...left.filter((run) => !isAmong(worker.ended, run)));
  const over = worker.ended.filter((run) => isAmong(ended, run));
  worker.ended = worker.ended.filter((run) => !over.includes(run));
  endCode(world, over);
}

/** A worker is gone, and its code with it. */
export function removeWorker(world: World, id: WorkerId): void {
  const { ended = [] } = world.workers.get(id) ?? {};
  world.workers.delete(id);
  endCode(world, ended);
}

/** A negated key stands for the code of a job. */
function endCode(world: World, over: readonly { readonly key: JobKey }[]): void {
  for (const { key } of over) if (codeOf(world, key).length === 0) world.ended.add(-key);
}

/** The jobs whose code a successor waits for, as needs. */
export function codeBefore(world: World, retryOf: JobId | null): ModelJob["needs"] {
  const root = retryOf === null ? null : rootOf(world, retryOf);
  if (root === null) return [];
  const family = [...world.jobs.values()].filter(({ asked }) => rootOf(world, asked.id) === root);
  const busy = family.filter((job) =>
    codeOf(world, job.key).some((n) => {
      return job.ledger.find((row) => row.n === n)?.startedAt !== null;
    }),
  );
  return busy.map(({ key }) => ({ key: -key, isTolerant: true }));
}

/** The numbers of the runs of a job whose code may go on. */
function codeOf({ workers }: World, key: JobKey): number[] {
  const runs = [...workers.values()].flatMap(({ ended }) => ended);
  return runs.filter((run) => run.key === key).map(({ n }) => n);
}

/** The first job of a chain of successors that is still stored. */
function rootOf(world: World, id: JobId): ModelJob | null {
  const job = jobNamed(world, id);
  if (job === undefined || job.asked.id !== id) return null;
  const { retryOf } = job.asked;
  return retryOf === null ? job : (rootOf(world, retryOf) ?? job);
}
