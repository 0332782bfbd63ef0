/** Counts that stop at a maximum. */
import type { CountName, GroupedStats } from "../types/records.ts";

const NAMES: readonly CountName[] = ["scheduled", "queued", "held", "running", "failed"];

/** The groups of a tenant that no job or gate ever had. */
export const NO_GROUPS: GroupedStats = { groups: [], cutShort: [], hasMore: false };

/** The counts that have found more than `max` jobs. */
export function cutShortOf(counts: Readonly<Record<CountName, number>>, max: number): CountName[] {
  return NAMES.filter((name) => counts[name] > max);
}
