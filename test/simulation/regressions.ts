/**
 * Seeds that once broke an invariant, kept for ever. `actions` are those that shrinking has left;
 * without them the whole plan of the seed runs.
 */
import type { Action } from "./plan.ts";

export interface Regression {
  readonly seed: number;
  /** What was wrong, in one sentence. */
  readonly was: string;
  readonly actions?: readonly Action[];
}

export const regressions: readonly Regression[] = [];
