/**
 * The arithmetic of lanes.
 *
 * A lane is a number of slots in a worker. The slots of `general` take any job; those of every
 * other lane take only jobs of that lane, so that slow work can never occupy what is kept free for
 * fast work.
 */

export interface LaneSlots {
  readonly lane: string;
  readonly slots: number;
  readonly running: number;
}

/** One claim to make: for the slots of `lane`, look in `lanes`, take at most `limit` jobs. */
export interface LaneClaim {
  readonly lane: string;
  readonly lanes: readonly string[] | "any";
  readonly limit: number;
}

export interface ClaimPlanOptions {
  /** Most jobs to take in one claim. */
  readonly batchMax: number;
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
export function claimPlan(
  slots: readonly LaneSlots[],
  { batchMax }: ClaimPlanOptions,
): readonly LaneClaim[] {
  const reserved = slots.filter(({ lane }) => lane !== GENERAL_LANE);
  const general = slots.filter(({ lane }) => lane === GENERAL_LANE);
  return [...reserved, ...general]
    .map((lane) => claimOf(lane, batchMax))
    .filter(({ limit }) => limit > 0);
}

function claimOf({ lane, slots, running }: LaneSlots, batchMax: number): LaneClaim {
  return {
    lane,
    lanes: lane === GENERAL_LANE ? "any" : [lane],
    limit: Math.min(slots - running, batchMax),
  };
}
