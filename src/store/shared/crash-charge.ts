/**
 * Decides which runs of a dead worker are charged with the crash.
 *
 * Runs are marked as started together, just before their handlers begin. If a worker dies before it
 * starts other jobs, it is unknown which of the last started runs had begun.
 */
import type { JobKey } from "../types/jobs-and-runs.ts";

interface StartedRun {
  readonly key: JobKey;
  /** Null while the job is only prefetched. */
  readonly startedAt: number | null;
}

/** The runs that were started last, if there are several. A run started alone had begun. */
export function lastStartOf(open: readonly StartedRun[]): ReadonlySet<JobKey> {
  const last = Math.max(...open.map(({ startedAt }) => startedAt ?? 0));
  const runs = open.filter(({ startedAt }) => startedAt === last);
  return new Set(runs.length > 1 ? runs.map(({ key }) => key) : []);
}

/**
 * Whether a run is charged with the crash. A job is spared once: after an uncharged run, which
 * shows as more runs than charged attempts, the next crash is charged.
 */
export function isCertain(
  { key, n, tries }: { readonly key: JobKey; readonly n: number; readonly tries: number },
  lastStarted: ReadonlySet<JobKey>,
): boolean {
  return !lastStarted.has(key) || n - 1 > tries;
}
