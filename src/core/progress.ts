/** Computes the progress of a job. */

export interface PhaseProgress {
  /** The index of the current phase, from 0. */
  readonly phaseIndex: number;
  /** The progress of that phase, 0 to 100. */
  readonly phasePercent: number;
  readonly phaseCount: number;
}

/** The progress of the whole job in whole percent. Every phase has the same weight. */
export function overallPercent({ phaseIndex, phasePercent, phaseCount }: PhaseProgress): number {
  const count = Math.max(1, phaseCount);
  const done = clamp(phaseIndex, 0, count - 1) + clamp(phasePercent, 0, 100) / 100;
  return Math.round((done / count) * 100);
}

function clamp(value: number, least: number, most: number): number {
  if (Number.isNaN(value)) return least;
  return Math.min(Math.max(value, least), most);
}
