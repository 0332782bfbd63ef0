/** The order in which jobs finished. Both stores scan for expired jobs along this order. */
import type { FinishPosition } from "../types/records.ts";
import type { JobKey } from "../types/jobs-and-runs.ts";

export const START: FinishPosition = { at: 0, key: 0 };

export function byEnd(left: FinishPosition, right: FinishPosition): number {
  return left.at - right.at || left.key - right.key;
}

/** The earlier position; `right` if both are equal. */
export function earlier(left: FinishPosition, right: FinishPosition): FinishPosition {
  return byEnd(left, right) < 0 ? left : right;
}

/** The later position; `right` if both are equal. */
export function later(left: FinishPosition, right: FinishPosition): FinishPosition {
  return byEnd(left, right) > 0 ? left : right;
}

/** The result of scanning one range. */
export interface Scan {
  readonly jobs: readonly FinishPosition[];
  /** Where the scan stopped early; null: it reached the end of the range. */
  readonly stoppedAt: FinishPosition | null;
}

/**
 * Merges several scans into one page. Jobs after the earliest stop are left out, because a scan
 * that stopped there may miss jobs before them; the next page finds them again.
 */
export function pageOf(
  scans: readonly Scan[],
  limit: number,
): { readonly keys: readonly JobKey[]; readonly next: FinishPosition | null } {
  const stops = scans.flatMap(({ stoppedAt }) => stoppedAt ?? []);
  const border = stops.toSorted(byEnd)[0] ?? null;
  const jobs = scans
    .flatMap((scan) => scan.jobs)
    .filter((job) => border === null || byEnd(job, border) <= 0)
    .toSorted(byEnd)
    .slice(0, limit);
  const next = jobs.length < limit ? border : (jobs.at(-1) ?? null);
  return { keys: jobs.map(({ key }) => key), next };
}
