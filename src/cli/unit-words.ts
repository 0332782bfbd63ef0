/** The states of units on the command line. */
import type { UnitCounts, UnitView } from "../api/progress.ts";

export const UNIT_WORDS = ["planned", "running", "completed", "failed"] as const;

export type UnitWord = (typeof UNIT_WORDS)[number];

/** A unit that has not ended and does not run is planned: a run will start it. */
export function unitWord({ state }: Pick<UnitView, "state">): UnitWord {
  return state === "pending" ? "planned" : state;
}

export function unitState(word: UnitWord): UnitView["state"] {
  return word === "planned" ? "pending" : word;
}

/** The number of units in each state that has any, such as `2 running, 1 failed`. */
export function unitCounts(counts: UnitCounts): string {
  return UNIT_WORDS.flatMap((word) => {
    const count = counts[unitState(word)];
    return count === 0 ? [] : [`${count} ${word}`];
  }).join(", ");
}
