/** The order in which jobs ended, along which both stores look for those whose time is over. */
import type { FinishPosition } from "../types/records.ts";
import type { JobKey } from "../types/jobs-and-runs.ts";

export const START: FinishPosition = { at: 0, key: 0 };

export function byEnd(left: FinishPosition, right: FinishPosition): number {
  return left.at - right.at || left.key - right.key;
}

/** The right one, if they are the same. */
export function earlier(left: FinishPosition, right: FinishPosition): FinishPosition {
  return byEnd(left, right) < 0 ? left : right;
}

/** The right one, if they are the same. */
export function later(left: FinishPosition, right: FinishPosition): FinishPosition {
  return byEnd(left, right) > 0 ? left : right;
}

/** A look at a part of the order. */
export interface Scan {
  readonly jobs: readonly FinishPosition[];
  /** Where it has stopped before the end. */
  readonly stoppedAt: FinishPosition | null;
}

/**
 * What several looks have found together, behind no place that one of them has not reached: what
 * is further is found again by those that go on from there.
 */
export function pageOf(
  looks: readonly Scan[],
  limit: number,
): { readonly keys: readonly JobKey[]; readonly next: FinishPosition | null } {
  const stops = looks.flatMap(({ stoppedAt }) => stoppedAt ?? []);
  const border = stops.toSorted(byEnd)[0] ?? null;
  const jobs = looks
    .flatMap((look) => look.jobs)
    .filter((job) => border === null || byEnd(job, border) <= 0)
    .toSorted(byEnd)
    .slice(0, limit);
  const next = jobs.length < limit ? border : (jobs.at(-1) ?? null);
  return { keys: jobs.map(({ key }) => key), next };
}
