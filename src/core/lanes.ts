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

/** The slots of a worker that a job may use, and how many of them are in use. */
export interface SlotUse {
  readonly slots: number;
  readonly used: number;
}

/** A number for each lane; a lane that is left out has 0. */
type NumberByLane = Readonly<Record<string, number>>;

/** The lane whose slots take any job. */
export const GENERAL_LANE = "general";

/** A lane may have the name of a member that every object inherits. */
export function ofLane(lane: string, numbers: NumberByLane): number {
  return (Object.hasOwn(numbers, lane) && numbers[lane]) || 0;
}

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

/**
 * The slots that a job of `lane` may use in a worker with these slots and running jobs. A running
 * job is counted in a slot of its own lane if there is one, because reserved lanes claim first; the
 * jobs beyond these slots are in the general slots.
 */
export function slotUse(lane: string, slots: NumberByLane, running: NumberByLane): SlotUse {
  const reservedFor = (name: string): number => (name === GENERAL_LANE ? 0 : ofLane(name, slots));
  const reserved = reservedFor(lane);
  const general = ofLane(GENERAL_LANE, slots);
  const beyond = Object.entries(running).reduce(
    (total, [name, jobs]) => total + Math.max(0, jobs - reservedFor(name)),
    0,
  );
  return {
    slots: reserved + general,
    used: Math.min(reserved, ofLane(lane, running)) + Math.min(general, beyond),
  };
}
