/** What movers of units are told, and what they say they have done. */
import type { ClaimedJob, Lease } from "../../../../src/store/types/jobs-and-runs.ts";

/** One round of one process. */
export interface MoveOrder {
  readonly round: number;
  readonly lease: Lease;
  readonly job: Pick<ClaimedJob, "key" | "n">;
  /** The numbers of its movers, among those of all processes. */
  readonly movers: readonly number[];
  readonly seed: number;
}

/** A move that the store has acknowledged. */
export interface Moved {
  readonly mover: number;
  readonly unit: string;
  readonly state: UnitState;
  /** Tells it from every other move: what the store has kept of it. */
  readonly mark: string;
  /** By a clock that all processes of a machine share, in nanoseconds. */
  readonly askedAt: bigint;
  readonly answeredAt: bigint;
}

export type UnitState = "planned" | "running" | "completed" | "failed";

export interface MoverReport {
  readonly moves: readonly Moved[];
  /** Answers that were not "recorded", and errors. */
  readonly refused: readonly string[];
}

export const PHASE = "build";
/** Units that every mover moves at the same time as the others. */
export const CONTENDED: readonly string[] = ["shared-1", "shared-2", "shared-3", "shared-4"];
export const OWN_UNITS = 3;

export function ownUnit(mover: number, index: number): string {
  return `of-${mover}-${index}`;
}
