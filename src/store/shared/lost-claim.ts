/**
 * A lost claim: the database answered with an error, although the claim may have been committed.
 */
import type { LimitId } from "../../core/control/permits.ts";
import type { Claim, ClaimedJob, ClaimRequest, JobKey } from "../types/jobs-and-runs.ts";
import type { ProbeClaim } from "../types/services.ts";

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

/**
 * The answer of a lost claim that was found. The worker has forgotten the permits that it had lent,
 * and does not know those that it got: each of these jobs brings its own.
 */
export function withPermitsOf(jobs: readonly ClaimedJob[], answer: Claim): Claim {
  const counts = new Map<LimitId, number>();
  for (const limit of jobs.flatMap(({ limits = [] }) => limits)) {
    counts.set(limit, (counts.get(limit) ?? 0) + 1);
  }
  if (answer.permits === undefined) return answer;
  const granted = [...counts].map(([limit, count]) => ({ limit, count }));
  return { ...answer, permits: { ...answer.permits, granted } };
}

/** The answer to the claim of a probe that was lost. The store knows the services of the probe. */
export function recoveredProbe(recovered: Claim | null): ProbeClaim | null {
  const { lease = null, jobs = [], permits } = recovered ?? {};
  const [job] = jobs;
  if (lease === null || job === undefined) return null;
  const claimed = { lease, job, services: [] };
  return permits === undefined ? claimed : { ...claimed, granted: permits.granted };
}
