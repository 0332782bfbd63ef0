/**
 * Computes the progress of a job. The worker stores what these functions compute, and everything
 * that shows progress (events, views, HTTP, the command line) reads it from there.
 */
import type { State } from "./job.ts";

/** Where a job is in its phases. */
export interface PhaseProgress {
  /** The index of the current phase, from 0. */
  readonly phaseIndex: number;
  /** The progress of that phase, 0 to 100. */
  readonly phasePercent: number;
  readonly phaseCount: number;
}

/** What a run knows about its current phase. */
export interface PhaseWork {
  /** The percent that the handler has reported; 0: none. */
  readonly reported: number;
  /** The units of `ctx.each`, and how many of them have completed or failed. */
  readonly units: { readonly ended: number; readonly total: number };
}

/** A phase may add units, so that only its end makes it complete. */
const UNITS_PERCENT_MAX = 99;

/** The progress of the whole job in whole percent. Every phase has the same weight. */
export function overallPercent({ phaseIndex, phasePercent, phaseCount }: PhaseProgress): number {
  const count = Math.max(1, phaseCount);
  const done = clamp(phaseIndex, 0, count - 1) + clamp(phasePercent, 0, 100) / 100;
  return Math.round((done / count) * 100);
}

/** The progress of a running phase: what the handler reports, or else the share of its units. */
export function percentOfPhase({ reported, units: { ended, total } }: PhaseWork): number {
  if (reported > 0 || total === 0) return reported;
  return clamp(Math.floor((ended / total) * 100), 0, UNITS_PERCENT_MAX);
}

/** The percent to show for a job: a completed job is always at 100. */
export function shownPercent(state: State, stored: number | null): number {
  return state === "completed" || state === "completed_with_errors" ? 100 : (stored ?? 0);
}

function clamp(value: number, least: number, most: number): number {
  if (Number.isNaN(value)) return least;
  return Math.min(Math.max(value, least), most);
}
