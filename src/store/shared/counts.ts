/** Counts that stop at a maximum. */
import type { CountBehind, CountName } from "../types/records.ts";

const NAMES: readonly CountName[] = ["scheduled", "queued", "held", "running", "failed"];

/** The counts that have found more than `max` jobs. */
export function cutShortOf(counts: Readonly<Record<CountName, number>>, max: number): CountName[] {
  return NAMES.filter((name) => counts[name] > max);
}

/** The count for a gate whose name no job has. */
export const NONE_BEHIND: CountBehind = {
  jobs: 0,
  isExact: true,
  shared: 0,
  isSharedExact: true,
};
