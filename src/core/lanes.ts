/**
 * The arithmetic of lanes.
 *
 * A lane is a number of slots in a worker. The slots of `general` take any job. The slots of every
 * other lane take only jobs of that lane, so that slow jobs never occupy slots reserved for fast
 * jobs.
 */

export interface LaneSlots {
  readonly lane: string;
  readonly slots: number;
  readonly running: number;
}

/** One claim: it fills slots of `lane` with jobs of `lanes`. */
export interface LaneClaim {
  readonly lane: string;
  readonly lanes: readonly string[] | "any";
}

/** The lane whose slots take any job. */
export const GENERAL_LANE = "general";

/** True when a worker with slots in these lanes claims jobs of `lane`. */
export function takesLane(lanes: readonly string[], lane: string): boolean {
  return lanes.includes(GENERAL_LANE) || lanes.includes(lane);
}

/**
 * The claims that fill the free slots, in order. Reserved lanes claim first, so that their jobs do
 * not use the general slots.
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
