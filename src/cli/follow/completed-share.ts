/**
 * How far a job and its phases have come, as a share from 0 to 1: what the handler told, or else
 * what the units say that have ended.
 */
import type { PhaseView, ProgressView, UnitCounts } from "../../api/progress.ts";

/** A phase may begin more units yet: only its end says that it is whole. */
const UNITS_SHARE_MAX = 0.99;

export function shareOfPhase({ name, state, units }: PhaseView, progress: ProgressView): number {
  if (state === "completed") return 1;
  if (name !== progress.phase) return 0;
  return shareTold(progress.phasePercent, units);
}

export function shareOfJob(progress: ProgressView): number {
  const { percent, phases, units } = progress;
  if (phases.length === 0) return shareTold(percent, units);
  const sum = phases.reduce((before, phase) => before + shareOfPhase(phase, progress), 0);
  return Math.max(percent / 100, sum / phases.length);
}

/** Units that need no more work, however they ended. */
export function endedOf({ completed, failed }: UnitCounts): number {
  return completed + failed;
}

/** Whole percent; 100 is said of what is whole, and of nothing else. */
export function percentOf(share: number): number {
  return Math.floor(share * 100 + 1e-9);
}

function shareTold(percent: number, units: UnitCounts): number {
  if (percent > 0 || units.total === 0) return percent / 100;
  return Math.min(endedOf(units) / units.total, UNITS_SHARE_MAX);
}
