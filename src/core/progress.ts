/** How far a job has come. */

export interface PhaseProgress {
  /** Of the phase that runs, counted from 0. */
  readonly phaseIndex: number;
  /** Of that phase, 0 to 100. */
  readonly phasePercent: number;
  readonly phaseCount: number;
}

/** How far the whole job has come, in whole percent: every phase weighs the same. */
export function overallPercent({ phaseIndex, phasePercent, phaseCount }: PhaseProgress): number {
  const count = Math.max(1, phaseCount);
  const done = clamp(phaseIndex, 0, count - 1) + clamp(phasePercent, 0, 100) / 100;
  return Math.round((done / count) * 100);
}

function clamp(value: number, least: number, most: number): number {
  if (Number.isNaN(value)) return least;
  return Math.min(Math.max(value, least), most);
}
