/**
 * The first thing after a boot: jobs that were active when the last process died are failed, so
 * that none stays `active` without a worker.
 *
 * The queue is single-process, so a boot proves that no other worker can finish them. Without this
 * the library would find out by itself (`onOrphan: "fail"` of the preset), but only after the lease
 * of the dead process has run out.
 */
import type { JobView, Millrace, WorkerView } from "millrace";
import { MEDIA } from "./media-pipeline.ts";

const PAGE = 100;

/** Answers the ids of those it has failed. */
export async function resetActiveJobs(mill: Millrace): Promise<readonly string[]> {
  await insistOnSingleProcess(mill);
  const reset: string[] = [];
  for (let page = await activeJobs(mill); ; page = await activeJobs(mill, page.next)) {
    // One that was claimed but had not begun is no orphan: it goes back by itself.
    for (const { id, phase } of page.jobs.filter(({ startedAt }) => startedAt !== null)) {
      const place = phase === null ? "before its first phase" : `in the phase ${phase}`;
      await mill.jobs.fail(id, `the process died ${place}`);
      reset.push(id);
    }
    if (page.next === null) return reset;
  }
}

function activeJobs(
  mill: Millrace,
  after: string | null = null,
): Promise<{ jobs: readonly JobView[]; next: string | null }> {
  const filter = { state: "running", type: MEDIA, limit: PAGE } as const;
  return mill.jobs.list(after === null ? filter : { ...filter, after });
}

/** Two processes on one file would fail each other's jobs. */
async function insistOnSingleProcess(mill: Millrace): Promise<void> {
  const other = (await mill.workers.list()).find(isAnotherProcess);
  if (other === undefined) return;
  throw new Error(`process ${other.pid} works on this file already: a job queue is single-process`);
}

/** A dead one is in the list until its lease has run out; then its number may be ours again. */
function isAnotherProcess({ pid, isAlive }: WorkerView): boolean {
  if (!isAlive || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It lives, but belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
