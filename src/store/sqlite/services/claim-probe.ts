/** claimProbe: takes one job that finds out whether a service works again. */
import { idBytes } from "../../../core/ids.ts";
import { startProbe } from "../../../core/breaker.ts";
import { newLostClaim, recoveredProbe } from "../../shared/lost-claim.ts";
import { breakerOf } from "../../shared/services/breaker-rows.ts";
import type { JobKey, LoneClaimRequest } from "../../types/jobs-and-runs.ts";
import type { ProbeClaim } from "../../types/services.ts";
import type { QueryRows } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { takeKeyTokens } from "../queue/key-rates.ts";
import { takeWaiting } from "../queue/places.ts";
import { limitsOf, type ClaimLimits } from "../runs/claim-limits.ts";
import { byUrgency, crashNumbersOf, scanOf, type ClaimScan } from "../runs/claim-candidates.ts";
import {
  hasLostClaims,
  newSecret,
  noteDelivered,
  readClaimed,
  recoverLostClaim,
  refusalOf,
} from "../runs/claim.ts";
import { listsOf } from "../runs/lease.ts";
import { asStarted, isAdmitted } from "../runs/lone-claim.ts";
import { acquireKeys } from "../runs/locks.ts";
import { dropMissing, splitMissing } from "../runs/missing-jobs.ts";
import { putBreaker } from "./breakers.ts";

/** How many due jobs of a lane are searched for a probe. Jobs further back get there in time. */
const PROBE_DEPTH = 1_000;

interface ProbeCandidate {
  readonly key: JobKey;
  readonly type: number;
  readonly tenant: number;
  readonly concurrency: string | null;
  /** The services whose breakers are due. */
  readonly due: readonly number[];
}

/** Checks without the write lock whether {@link claimProbe} would answer null. */
export function claimsNoProbe(session: Session, request: LoneClaimRequest): boolean {
  if (hasLostClaims(session, request)) return false;
  if (refusalOf(session, request) !== null) return true;
  const limits = limitsOf(session, asStarted(request));
  const found = findProbe(session, request, limits);
  return found === null || !isAdmitted(limits, found);
}

/**
 * If the commit reports an error, it may have succeeded: the claim is then remembered as lost, and
 * the next call of the worker answers the job.
 */
export async function claimProbe(
  session: Session,
  request: LoneClaimRequest,
  write: (work: () => ProbeClaim | null) => Promise<ProbeClaim | null>,
): Promise<ProbeClaim | null> {
  const secret = newSecret(session);
  const { cap: _cap, ...asked } = request;
  const asClaim = { ...asked, limit: 1, prefetch: false };
  let isTried = false;
  try {
    const answer = await write(() => {
      const recovered = recoveredProbe(recoverLostClaim(session, asClaim));
      if (recovered !== null) return recovered;
      isTried = true;
      return takeProbe(session, request, secret);
    });
    if (answer !== null) noteDelivered(session, answer.lease, [answer.job]);
    return answer;
  } catch (error) {
    if (isTried) session.state.lostClaims.add(newLostClaim(asClaim, secret));
    throw error;
  }
}

function takeProbe(session: Session, request: LoneClaimRequest, secret: string): ProbeClaim | null {
  if (refusalOf(session, request) !== null) return null;
  const limits = limitsOf(session, asStarted(request));
  const found = findProbe(session, request, limits);
  if (found === null || !isAdmitted(limits, found)) return null;
  const { missing } = splitMissing(session, [found]);
  if (missing.length === 0) {
    const [job] = takeKeyTokens(session, [found]);
    return job === undefined ? null : lease(session, request, job, secret, limits);
  }
  // The next call finds another job.
  takeWaiting(session, found.key);
  dropMissing(session, missing);
  session.warnings.reportMissing("claimProbe", missing);
  return null;
}

function lease(
  session: Session,
  request: LoneClaimRequest,
  { key, type, due }: ProbeCandidate,
  secret: string,
  limits: ClaimLimits | null,
): ProbeClaim {
  const { sql, clock, names, outbox } = session;
  const candidate = takeWaiting(session, key);
  if (candidate === undefined) throw new Error(`job ${key} left its place inside a transaction`);
  const now = clock.now();
  const { lastKey: number } = sql.run("insert_lease", {
    secret,
    worker: idBytes(request.worker),
    ...listsOf([{ ...candidate, startedAt: now }], now),
    claimed_at: now,
    alone: 0,
  });
  acquireKeys(session, [candidate]);
  outbox.add({ kind: "job:started", jobs: [key] });
  const used = sql.all("services_of_type", { type }).map(({ service }) => service);
  const probed = used.filter((service) => due.includes(service));
  for (const service of probed) {
    const row = sql.get("find_breaker", { service });
    if (row === undefined) throw new Error(`breaker ${service} is due and has no row`);
    const breaker = breakerOf(row);
    putBreaker(session, service, breaker, startProbe(breaker, candidate, now));
  }
  const [job] = readClaimed(session, [candidate], limits);
  if (job === undefined) throw new Error(`job ${key} was claimed and not read`);
  const services = probed.map((service) => names.text(service));
  const claimed = { lease: { number, secret }, job, services };
  if (limits === null) return claimed;
  return { ...claimed, granted: limits.take(session, asStarted(request), [candidate]) };
}

/** Jobs without a permit are passed: otherwise the probe of one service would wait for another. */
function findProbe(
  session: Session,
  request: LoneClaimRequest,
  limits: ClaimLimits | null,
): ProbeCandidate | null {
  const { sql, clock } = session;
  const services = sql.all("due_breakers", { now: clock.now() }).map(({ service }) => service);
  if (services.length === 0) return null;
  const scan = scanOf(session, request, null);
  const { now } = scan;
  const due = JSON.stringify(services);
  const full = limits?.full ?? "[]";
  const rows = sql.all("probe_types", { due, types: scan.types, full, now });
  if (rows.length === 0) return null;
  const types = JSON.stringify(rows.map(({ type }) => type));
  const job = mostUrgent(session, scan, { due, types, full, cap: request.cap });
  return job === undefined ? null : { ...job, due: services };
}

/** The due services, their types, and the used up limits, as JSON lists. */
interface ProbeScan {
  readonly due: string;
  readonly types: string;
  readonly full: string;
  readonly cap: number;
}

function mostUrgent(
  session: Session,
  { lanes, onlyLanes, tenants, now }: ClaimScan,
  { due, types, full, cap }: ProbeScan,
): QueryRows["service_probe_in_ready"] | undefined {
  const { sql } = session;
  const crashNumbers = [0, ...crashNumbersOf(session, lanes)].filter((crashes) => crashes < cap);
  const front = { types, tenants, full, now, depth: PROBE_DEPTH };
  const found = [
    sql.get("service_probe_in_blocked", { due, types, full, lanes: onlyLanes, tenants, cap, now }),
    ...lanes.flatMap((lane) =>
      crashNumbers.map((crashes) => sql.get("service_probe_in_ready", { ...front, lane, crashes })),
    ),
  ];
  return found.filter((job) => job !== undefined).toSorted(byUrgency)[0];
}
