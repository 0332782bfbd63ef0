/** The order in which jobs ended, along which both stores look for those whose time is over. */
import type { EndPlace } from "../types/records.ts";
import type { JobKey } from "../types/jobs-and-runs.ts";

export const START: EndPlace = { at: 0, key: 0 };

export function byEnd(left: EndPlace, right: EndPlace): number {
  return left.at - right.at || left.key - right.key;
}

/** The right one, if they are the same. */
export function earlier(left: EndPlace, right: EndPlace): EndPlace {
  return byEnd(left, right) < 0 ? left : right;
}

/** The right one, if they are the same. */
export function later(left: EndPlace, right: EndPlace): EndPlace {
  return byEnd(left, right) > 0 ? left : right;
}

/** A look at a part of the order. */
export interface Look {
  readonly jobs: readonly EndPlace[];
  /** Where it has stopped before the end. */
  readonly far: EndPlace | null;
}

/**
 * What several looks have found together, behind no place that one of them has not reached: what
 * is further is found again by those that go on from there.
 */
export function pageOf(
  looks: readonly Look[],
  limit: number,
): { readonly keys: readonly JobKey[]; readonly next: EndPlace | null } {
  const stops = looks.flatMap(({ far }) => far ?? []);
  const border = stops.toSorted(byEnd)[0] ?? null;
  const jobs = looks
    .flatMap((look) => look.jobs)
    .filter((job) => border === null || byEnd(job, border) <= 0)
    .toSorted(byEnd)
    .slice(0, limit);
  const next = jobs.length < limit ? border : (jobs.at(-1) ?? null);
  return { keys: jobs.map(({ key }) => key), next };
}
