/** Fair lanes: tenants start jobs in proportion to their weights. */
import type { TenantWeights } from "../../core/control/fairness.ts";

export interface FairLaneRecord {
  readonly lane: string;
  /** The weights that are stated. Every other tenant has weight 1. */
  readonly weights: TenantWeights;
  /** Who has made the lane fair: the code of a worker, or an operator. */
  readonly owner: "code" | "operator";
  readonly by: string | null;
  readonly setAt: number;
}

/** What the code of a worker states about a lane. Null: the lane is not fair. */
export interface DeclaredFairness {
  readonly lane: string;
  readonly weights: TenantWeights | null;
}

/** What `giveTurns` has done. */
export interface TurnsAnswer {
  /** Jobs that have got a turn. */
  readonly given: number;
  /** There are jobs that this call has not looked at. */
  readonly more: boolean;
}

/** The maximum of fair lanes, and of weights in one of them. */
export const FAIR_LANES_MAX = 100;
export const WEIGHTS_MAX = 1_000;
