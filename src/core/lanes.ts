/**
 * The arithmetic of lanes.
 *
 * A lane is a number of slots in a worker. The slots of `general` take any job; those of every
 * other lane take only jobs of that lane, so that slow work can never acquireLocks what is kept
 * free for fast work.
 */

export interface LaneSlots {
  readonly lane: string;
  readonly slots: number;
  readonly running: number;
}

/** One claim to make: for the slots of `lane`, look in `lanes`. */
export interface LaneClaim {
  readonly lane: string;
  readonly lanes: readonly string[] | "any";
}

/** The lane whose slots take any job. */
export const GENERAL_LANE = "general";

/** Whether a worker with slots in these lanes takes jobs of `lane`. */
export function takesLane(lanes: readonly string[], lane: string): boolean {
  return lanes.includes(GENERAL_LANE) || lanes.includes(lane);
}

/**
 * The claims that fill the free slots, in the order in which to make them. Reserved lanes ask
 * first, so that their jobs leave the general slots to those who have no other.
 */
export function claimPlan(lanes: readonly LaneSlots[]): readonly LaneClaim[] {
  const hungry = lanes.filter(({ slots, running }) => slots > running);
  const reserved = hungry.filter(({ lane }) => lane !== GENERAL_LANE);
  const general = hungry.filter(({ lane }) => lane === GENERAL_LANE);
  return [
    ...reserved.map(({ lane }) => ({ lane, lanes: [lane] })),
    ...general.map(({ lane }) => ({ lane, lanes: "any" as const })),
  ];
}
