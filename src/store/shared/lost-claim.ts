/** A claim that was answered with an error, though it may have taken something. */
import type { ClaimRequest, JobKey } from "../types/jobs-and-runs.ts";

export interface LostClaim {
  readonly request: ClaimRequest;
  /** Made before the claim was sent: what bears it is the claim's answer. */
  readonly secret: string;
  /** What it took and somebody has been told of. */
  readonly delivered: Set<JobKey>;
}

export function newLostClaim(request: ClaimRequest, secret: string): LostClaim {
  return { request, secret, delivered: new Set() };
}

/** Whether two claims want the same, and so are for the same slots. */
export function sameRequest({ request }: LostClaim, other: ClaimRequest): boolean {
  return criteriaOf(request) === criteriaOf(other);
}

function criteriaOf({ lanes, types, tenants, prefetch }: ClaimRequest): string {
  return JSON.stringify([lanes, types, tenants, prefetch]);
}
