/** The states of units on the command line. */
import type { UnitCounts } from "../api/progress.ts";

export const UNIT_STATES = ["planned", "running", "completed", "failed"] as const;

/** The number of units in each state that has any, such as `2 running, 1 failed`. */
export function unitCounts(counts: UnitCounts): string {
  return UNIT_STATES.flatMap((state) => {
    const count = counts[state];
    return count === 0 ? [] : [`${count} ${state}`];
  }).join(", ");
}
