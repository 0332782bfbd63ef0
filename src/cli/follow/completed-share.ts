/**
 * The completed share of a job and of its phases, from 0 to 1: the progress that the handler
 * reported, or otherwise the share of units that have ended.
 */
import type { PhaseView, ProgressView, UnitCounts } from "../../api/progress.ts";

/** A running phase may add units, so that only its end makes it complete. */
const UNITS_SHARE_MAX = 0.99;

export function shareOfPhase({ name, state, units }: PhaseView, progress: ProgressView): number {
  if (state === "completed") return 1;
  if (name !== progress.phase) return 0;
  return shareReported(progress.phasePercent, units);
}

export function shareOfJob(progress: ProgressView): number {
  const { percent, phases, units } = progress;
  if (phases.length === 0) return shareReported(percent, units);
  const sum = phases.reduce((before, phase) => before + shareOfPhase(phase, progress), 0);
  return Math.max(percent / 100, sum / phases.length);
}

/** The number of units that have completed or failed. */
export function endedOf({ completed, failed }: UnitCounts): number {
  return completed + failed;
}

/** Whole percent, rounded down, so that 100 means complete. */
export function percentOf(share: number): number {
  return Math.floor(share * 100 + 1e-9);
}

function shareReported(percent: number, units: UnitCounts): number {
  if (percent > 0 || units.total === 0) return percent / 100;
  return Math.min(endedOf(units) / units.total, UNITS_SHARE_MAX);
}
