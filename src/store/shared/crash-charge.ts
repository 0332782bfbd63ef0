/**
 * Which of a dead worker's runs had begun for certain.
 *
 * Runs are marked as started in waves, just before their handlers begin. A worker that dies before
 * it has marked another wave leaves no word about which of the last one had begun.
 */
import type { JobKey } from "../types/jobs-and-runs.ts";

interface StartedRun {
  readonly key: JobKey;
  /** Null while it only lies in a prefetch. */
  readonly startedAt: number | null;
}

/** The runs that were marked last, if there are several. One alone had begun. */
export function lastStartOf(open: readonly StartedRun[]): ReadonlySet<JobKey> {
  const last = Math.max(...open.map(({ startedAt }) => startedAt ?? 0));
  const wave = open.filter(({ startedAt }) => startedAt === last);
  return new Set(wave.length > 1 ? wave.map(({ key }) => key) : []);
}

/**
 * Whether a run is charged with the crash. The benefit of the lost claim is given once: a job that
 * has had a run that was charged to nobody (the number of runs tells) gets it no more.
 */
export function isCertain(
  { key, n, tries }: { readonly key: JobKey; readonly n: number; readonly tries: number },
  lastWave: ReadonlySet<JobKey>,
): boolean {
  return !lastWave.has(key) || n - 1 > tries;
}
