/** The completed share of a job and of its phases, from 0 to 1. */
import type { PhaseView, ProgressView, UnitCounts } from "../../api/progress.ts";

export function shareOfPhase({ percent }: PhaseView): number {
  return percent / 100;
}

export function shareOfJob({ percent }: ProgressView): number {
  return percent / 100;
}

/** The completed share of the current phase, or of a job without phases. */
export function currentShare(progress: ProgressView): number {
  const phase = currentPhase(progress);
  return phase === undefined ? shareOfJob(progress) : shareOfPhase(phase);
}

export function currentPhase({ phase, phases }: ProgressView): PhaseView | undefined {
  return phases.find(({ name }) => name === phase);
}

/** The number of units that have completed or failed. */
export function endedOf({ completed, failed }: UnitCounts): number {
  return completed + failed;
}

/** Whole percent, rounded down, so that 100 means complete. */
export function percentOf(share: number): number {
  return Math.floor(share * 100 + 1e-9);
}
