/**
 * A lost claim: the database answered with an error, although the claim may have been committed.
 */
import type { LimitId, PermitCount } from "../../core/control/permits.ts";
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
 * The permits that the jobs of a lost claim bring when they are found. The worker has forgotten the
 * permits that it had lent, and does not know those that it got. Limits may have been set since the
 * claim, of which the store has noted no permit. So the store notes all of these permits again, and
 * the worker never believes to hold more than the store has noted. What the lost claim has noted
 * goes back when the worker tells what it keeps.
 */
export function permitsOf(jobs: readonly ClaimedJob[]): readonly PermitCount[] {
  const counts = new Map<LimitId, number>();
  for (const limit of jobs.flatMap(({ limits = [] }) => limits)) {
    counts.set(limit, (counts.get(limit) ?? 0) + 1);
  }
  return [...counts].map(([limit, count]) => ({ limit, count }));
}

/** The answer of a lost claim that was found, with permits that the store has noted. */
export function withPermits(answer: Claim, granted: readonly PermitCount[]): Claim {
  if (answer.permits === undefined) return answer;
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
