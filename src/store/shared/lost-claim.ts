/**
 * A lost claim: the database answered with an error, although the claim may have been committed.
 */
import type { ClaimRequest, JobKey } from "../types/jobs-and-runs.ts";

export interface LostClaim {
  readonly request: ClaimRequest;
  /** Chosen before the claim was sent, so that its lease can be found by the secret. */
  readonly secret: string;
  /** Jobs of the lost claim that a later claim has answered. */
  readonly delivered: Set<JobKey>;
}

export function newLostClaim(request: ClaimRequest, secret: string): LostClaim {
  return { request, secret, delivered: new Set() };
}

/** Whether a claim has the same criteria as a lost claim, and so fills the same slots. */
export function sameRequest({ request }: LostClaim, other: ClaimRequest): boolean {
  return criteriaOf(request) === criteriaOf(other);
}

function criteriaOf({ lanes, types, tenants, prefetch }: ClaimRequest): string {
  return JSON.stringify([lanes, types, tenants, prefetch]);
}
