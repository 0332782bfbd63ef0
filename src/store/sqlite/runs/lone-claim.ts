/** claimAlone: takes one job that is to run while its process runs nothing else. */
import { idBytes } from "../../../core/ids.ts";
import { nextProbeMs } from "../../../core/crashes.ts";
import { newLostClaim } from "../../shared/lost-claim.ts";
import type { LoneClaim, LoneClaimRequest } from "../../types/jobs-and-runs.ts";
import type { Session } from "../database/session.ts";
import { takeKeyTokens } from "../queue/key-rates.ts";
import { takeWaiting } from "../queue/places.ts";
import { newSecret, readClaimed, recoverLostClaim, refusalOf, hasLostClaims } from "./claim.ts";
import { scanOf } from "./claim-candidates.ts";
import { limitsOf, type ClaimLimits, type LimitedJob } from "./claim-limits.ts";
import { listsOf } from "./lease.ts";
import { acquireKeys } from "./locks.ts";
import { findLone, type LoneCandidate } from "./lone-candidates.ts";
import { dropMissing, splitMissing } from "./missing-jobs.ts";

/** How many jobs whose key has no token one call passes. */
const SEARCHES_MAX = 100;

/** Checks without the write lock whether {@link claimAlone} would answer null. */
export function claimsNoneAlone(session: Session, request: LoneClaimRequest): boolean {
  if (hasLostClaims(session, request)) return false;
  if (refusalOf(session, request) !== null) return true;
  const limits = limitsOf(session, asStarted(request));
  const found = findLone(session, scanOf(session, request, limits), request);
  return found === null || !isAdmitted(limits, found);
}

/** A lone run starts at once, although it is claimed like a prefetch. */
export function asStarted(
  request: LoneClaimRequest,
): LoneClaimRequest & { readonly prefetch: false } {
  return { ...request, prefetch: false };
}

export function isAdmitted(limits: ClaimLimits | null, job: LimitedJob): boolean {
  return limits === null || (!limits.isClosed && limits.admit([job]).length > 0);
}

/**
 * If the commit reports an error, it may have succeeded: the claim is then remembered as a lost
 * prefetch, and the next claim of the worker returns the job.
 */
export async function claimAlone(
  session: Session,
  request: LoneClaimRequest,
  write: (work: () => LoneClaim | null) => Promise<LoneClaim | null>,
): Promise<LoneClaim | null> {
  const secret = newSecret(session);
  const asPrefetch = { ...request, limit: 1, prefetch: true };
  let isTried = false;
  try {
    return await write(() => {
      recoverLostClaim(session, asPrefetch);
      isTried = true;
      return takeAlone(session, request, secret);
    });
  } catch (error) {
    if (isTried) session.state.lostClaims.add(newLostClaim(asPrefetch, secret));
    throw error;
  }
}

function takeAlone(session: Session, request: LoneClaimRequest, secret: string): LoneClaim | null {
  if (refusalOf(session, request) !== null) return null;
  const limits = limitsOf(session, asStarted(request));
  const scan = scanOf(session, request, limits);
  for (let search = 0; search < SEARCHES_MAX; search += 1) {
    const found = findLone(session, scan, request);
    if (found === null || !isAdmitted(limits, found)) return null;
    if (isDropped(session, found)) return null;
    const [job] = takeKeyTokens(session, [found]);
    if (job !== undefined) return lease(session, request, job, secret, limits);
    // The key has no token. It is locked now, so the next search passes its jobs.
  }
  return null;
}

/** True: the place had no job, and is gone. The next call finds another job. */
function isDropped(session: Session, found: LoneCandidate): boolean {
  const { missing } = splitMissing(session, [found]);
  if (missing.length === 0) return false;
  takeWaiting(session, found.key);
  dropMissing(session, missing);
  session.warnings.reportMissing("claimAlone", missing);
  return true;
}

function lease(
  session: Session,
  request: LoneClaimRequest,
  { key, probe }: LoneCandidate,
  secret: string,
  limits: ClaimLimits | null,
): LoneClaim {
  const { sql, clock } = session;
  const candidate = takeWaiting(session, key);
  if (candidate === undefined) throw new Error(`job ${key} left its place inside a transaction`);
  const now = clock.now();
  const { lastKey: number } = sql.run("insert_lease", {
    secret,
    worker: idBytes(request.worker),
    ...listsOf([{ ...candidate, startedAt: null }], now),
    claimed_at: now,
    alone: 1,
  });
  acquireKeys(session, [candidate]);
  if (probe !== null) {
    const probe_ms = nextProbeMs(probe.probe_ms);
    sql.run("set_next_probe", { type: probe.type, probe_at: now + probe_ms, probe_ms });
  }
  const [job] = readClaimed(session, [candidate], limits);
  if (job === undefined) throw new Error(`job ${key} was claimed and not read`);
  const claimed = { lease: { number, secret }, job, isProbe: probe !== null };
  if (limits === null) return claimed;
  return { ...claimed, granted: limits.take(session, asStarted(request), [candidate]) };
}
