/** claim: moves a batch of due jobs from `ready` under a new lease of a worker. */
import type { PermitCount } from "../../../core/control/permits.ts";
import { idBytes, idFromBytes, idUuid } from "../../../core/ids.ts";
import { policyOfFlags } from "../../shared/codes.ts";
import { BATCH_MAX } from "../../store.ts";
import type { Claim, ClaimedJob, ClaimRequest, JobKey, Lease } from "../../types/jobs-and-runs.ts";
import { tagsOf } from "../../shared/decode-jobs.ts";
import {
  AGED_CLASSES_MAX,
  CLASSES_MAX,
  classRange,
  type ClaimCursor,
  type Ranges,
} from "../../shared/claim-cursor.ts";
import {
  sameRequest,
  newLostClaim,
  permitsOf,
  withPermits,
  type LostClaim,
} from "../../shared/lost-claim.ts";
import { returnPrefetched } from "./prefetch.ts";
import {
  findCandidates,
  findInQueues,
  keyList,
  lanesOf,
  scanOf,
  withinWeight,
  withoutTurn,
  type Candidate,
  type ClaimScan,
  type ReadyJob,
} from "./claim-candidates.ts";
import { limitsOf, type ClaimLimits } from "./claim-limits.ts";
import { findLone } from "./lone-candidates.ts";
import { listsOf, openRuns, withFacts } from "./lease.ts";
import type { QueryTuples } from "../database/queries.gen.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session } from "../database/session.ts";
import { takeKeyTokens } from "../queue/key-rates.ts";
import { acquireKeys } from "./locks.ts";
import { dropMissing, splitMissing } from "./missing-jobs.ts";

/** 128 bits cannot be guessed. */
const SECRET_BYTES = 16;
const EMPTY: Claim = { lease: null, jobs: [], lost: false, awaitsAlone: false, tookAll: false };
const LOST: Claim = { ...EMPTY, lost: true };

/** Checks without the write lock, so that idle workers never take it. Null: there is work. */
export function claimsNothing(session: Session, request: ClaimRequest): Claim | null {
  if (hasLostClaims(session, request)) return null;
  const refusal = refusalOf(session, request);
  if (refusal !== null) return refusal;
  const limits = limitsOf(session, request);
  if (limits?.isUnwanted === true) return null;
  const scan = scanOf(session, request, limits);
  const one = { ...request, limit: 1 };
  const cursor = cursorOf(session, request, limits);
  const others = leaveKey(session, scan, request);
  if (findInQueues(session, others, one).length > 0) return null;
  const isFound =
    limits?.isClosed !== true &&
    cursor.finds((ranges) => findCandidates(session, others, one, ranges)[0] ?? null);
  return isFound ? null : nothing(session, scan, request);
}

/** The answer without a job. */
function nothing(session: Session, scan: ClaimScan, request: ClaimRequest): Claim {
  const answer = { ...EMPTY, awaitsAlone: awaitsAlone(session, scan, request) };
  return scan.limits === null ? answer : { ...answer, permits: scan.limits.answer([], false) };
}

/** A commit of another connection may have put jobs below the marks. */
function cursorOf(
  { sql, state }: Session,
  request: ClaimRequest,
  limits: ClaimLimits | null,
): ClaimCursor {
  const { lanes, types, tenants, prefetch } = request;
  const version = sql.get("data_version", {})?.data_version;
  if (version !== state.claimedVersion) state.claimCursors.onWakeUp("work");
  state.claimedVersion = version;
  return state.claimCursors.of(JSON.stringify([lanes, types, tenants, prefetch, limits?.full]));
}

/** Whether a job of the request waits to be run alone. */
function awaitsAlone(session: Session, scan: ClaimScan, { crashed }: ClaimRequest): boolean {
  return crashed !== undefined && findLone(session, scan, crashed) !== null;
}

/**
 * The scan without the key of the job that would run alone next. Otherwise other jobs would lock
 * the key again and again: they are claimed at once, and a lone job only after two polls.
 */
function leaveKey(session: Session, scan: ClaimScan, { crashed }: ClaimRequest): ClaimScan {
  return crashed === undefined ? scan : { ...scan, awaited: findLone(session, scan, crashed) };
}

export function hasLostClaims(session: Session, request: Pick<ClaimRequest, "worker">): boolean {
  return lostClaimsOf(session, request).length > 0;
}

function lostClaimsOf(
  { state }: Session,
  { worker }: Pick<ClaimRequest, "worker">,
): readonly LostClaim[] {
  if (state.lostClaims.size === 0) return [];
  return [...state.lostClaims].filter(({ request }) => request.worker === worker);
}

/**
 * Claims a batch. If the commit reports an error, it may have succeeded: the claim is then
 * remembered as lost, and a later claim answers the lease with its secret.
 */
export async function claim(
  session: Session,
  request: ClaimRequest,
  write: (work: () => Claim) => Promise<Claim>,
): Promise<Claim> {
  const secret = newSecret(session);
  let isTried = false;
  const work = (): Claim => {
    const recovered = recoverLostClaim(session, request);
    if (recovered !== null) return recovered;
    isTried = true;
    return takeBatch(session, request, secret);
  };
  try {
    const answer = await write(work);
    if (answer.lease !== null) noteDelivered(session, answer.lease, answer.jobs);
    return answer;
  } catch (error) {
    // A batch that was never taken cannot have been committed.
    if (isTried) session.state.lostClaims.add(newLostClaim(request, secret));
    throw error;
  }
}

/** If these jobs are those of a lost claim, no later claim answers them again. */
export function noteDelivered(
  { state }: Session,
  { secret }: Lease,
  jobs: readonly Pick<ClaimedJob, "key">[],
): void {
  const lostClaim = [...state.lostClaims].find((each) => each.secret === secret);
  for (const { key } of jobs) lostClaim?.delivered.add(key);
}

export function newSecret({ dice }: Session): string {
  return Buffer.from(dice.bytes(SECRET_BYTES)).toString("hex");
}

/**
 * Recovers a lost claim of the worker. Its started jobs are the answer to the next claims with the
 * same criteria; its prefetched jobs are returned.
 */
export function recoverLostClaim(session: Session, request: ClaimRequest): Claim | null {
  for (const lostClaim of lostClaimsOf(session, request)) {
    const worker = idBytes(request.worker);
    const { secret, delivered } = lostClaim;
    const lease = session.sql
      .all("leases_of_worker", { worker })
      .find((each) => each.secret === secret);
    const open = lease === undefined ? [] : openRuns(session, lease);
    const undelivered = open.filter(({ key }) => !delivered.has(key));
    if (lease === undefined || undelivered.length === 0) {
      session.state.lostClaims.delete(lostClaim);
      continue;
    }
    const proof = { number: lease.number, secret };
    if (lostClaim.request.prefetch) {
      returnPrefetched(
        session,
        proof,
        undelivered.map(({ key }) => key),
      );
      continue;
    }
    if (!sameRequest(lostClaim, request)) continue;
    const next = withFacts(session, undelivered.slice(0, bounded(request.limit, BATCH_MAX)));
    const limits = limitsOf(session, request);
    const jobs = readClaimed(session, next, limits);
    const answer = nothing(session, scanOf(session, request, limits), request);
    const granted = permitsOf(jobs);
    notePermits(session, worker, granted);
    return withPermits({ ...answer, lease: proof, jobs }, granted);
  }
  return null;
}

function notePermits({ sql }: Session, worker: Uint8Array, granted: readonly PermitCount[]): void {
  const rows = sql.all("permits_of_worker", { worker });
  const known = new Map(rows.map(({ limit_id, held }) => [limit_id, held]));
  for (const { limit, count } of granted) {
    const held = (known.get(limit) ?? 0) + count;
    sql.run("set_permit", { worker, limit_id: limit, held });
    sql.run("add_used", { id: limit, count });
  }
}

function takeBatch(session: Session, request: ClaimRequest, secret: string): Claim {
  const { sql, clock, outbox } = session;
  const refusal = refusalOf(session, request);
  if (refusal !== null) return refusal;
  const limits = limitsOf(session, request);
  limits?.want(session);
  const scan = scanOf(session, request, limits);
  const { jobs: found, isCut } = takeCandidates(session, scan, request);
  const { present, missing } = splitMissing(session, found);
  dropPlaces(session, missing);
  const candidates = takeKeyTokens(session, present).map(withoutTurn);
  if (candidates.length === 0) return nothing(session, scan, request);

  const now = clock.now();
  const worker = idBytes(request.worker);

  const startedAt = request.prefetch ? null : now;
  const lists = listsOf(
    candidates.map((candidate) => ({ ...candidate, startedAt })),
    now,
  );
  sql.run("delete_ready", { keys: lists.keys });
  if (candidates.some(({ isQueued }) => isQueued)) sql.run("delete_limited", { keys: lists.keys });
  const granted = limits?.take(session, request, candidates);
  const { lastKey: number } = sql.run("insert_lease", {
    secret,
    worker,
    ...lists,
    claimed_at: now,
    alone: 0,
  });
  acquireKeys(session, candidates);
  const jobs = readClaimed(session, candidates, limits);
  if (!request.prefetch) {
    const onCommit = (at: number): void => session.state.ownEvents.claimed(jobs, at);
    outbox.add({ kind: "job:started", jobs: jobs.map(({ key }) => key), onCommit });
  }
  const alone = awaitsAlone(session, scan, request);
  const claimed = { lease: { number, secret }, jobs, lost: false, awaitsAlone: alone };
  if (limits === null) {
    return { ...claimed, tookAll: lanesAreEmpty(session, request, jobs.length) };
  }
  return { ...claimed, tookAll: false, permits: limits.answer(granted ?? [], isCut) };
}

/** Whether a claim that took so many jobs has left none. */
function lanesAreEmpty(session: Session, request: ClaimRequest, taken: number): boolean {
  if (request.prefetch || taken >= bounded(request.limit, BATCH_MAX)) return false;
  const lanes = request.lanes === "any" ? null : JSON.stringify(lanesOf(session, request));
  return session.sql.get("look_for_ready", { lanes })?.has_ready === 0;
}

function takeCandidates(
  session: Session,
  scan: ClaimScan,
  request: ClaimRequest,
): { readonly jobs: readonly ReadyJob[]; readonly isCut: boolean } {
  const { limits } = scan;
  if (limits?.isClosed === true) return { jobs: [], isCut: false };
  const limit = bounded(request.limit, BATCH_MAX);
  const others = leaveKey(session, scan, request);
  const take = (from: ClaimScan, ranges: Ranges): TakenCandidates => {
    const found = findCandidates(session, from, request, ranges);
    const admitted = limits?.admit(found) ?? found;
    const isCut = admitted.length < found.length;
    const light = withinWeight(session, admitted);
    const positions = light.filter(({ crashes, isQueued }) => crashes === 0 && !isQueued);
    // Jobs that were left out are below the marks.
    return { jobs: light, isCut, count: isCut ? light.length : found.length, positions };
  };
  for (const aged of agedClasses(session, others, request)) {
    const old = take(aged.scan, aged.ranges);
    if (old.jobs.length > 0) return old;
  }
  return cursorOf(session, request, limits).scanNow(limit, (ranges) => take(others, ranges));
}

interface TakenCandidates {
  readonly jobs: readonly ReadyJob[];
  readonly isCut: boolean;
  readonly count: number;
  readonly positions: readonly ReadyJob[];
}

interface AgedClass {
  readonly scan: ClaimScan;
  readonly ranges: Ranges;
}

/** The lanes and priorities with jobs that have waited too long, the longest wait first. */
function agedClasses(
  { sql, clock }: Session,
  scan: ClaimScan,
  { olderThanMs }: ClaimRequest,
): readonly AgedClass[] {
  if (olderThanMs === undefined) return [];
  const lanes = scan.onlyLanes;
  const bounds = { hops: CLASSES_MAX, classes: AGED_CLASSES_MAX, older: olderThanMs };
  const found = sql.all("longest_due_classes", { lanes, ...bounds, now: clock.now() });
  return found.map(({ lane, priority }) => {
    const only = { lanes: [lane], onlyLanes: JSON.stringify([lane]), priority, crashNumbers: [] };
    return { scan: { ...scan, ...only }, ranges: [classRange(lane, priority)] };
  });
}

/** Removes jobs without a row from `ready`: they would hold back the jobs behind them. */
function dropPlaces(session: Session, missing: readonly JobKey[]): void {
  if (missing.length === 0) return;
  session.sql.run("delete_ready", { keys: JSON.stringify(missing) });
  session.sql.run("delete_limited", { keys: JSON.stringify(missing) });
  dropMissing(session, missing);
  session.warnings.reportMissing("claim", missing);
}

/** The answer to a worker that may not claim; null if it may. A quiet worker is not lost. */
export function refusalOf(
  { sql, clock }: Session,
  request: Pick<ClaimRequest, "worker">,
): Claim | null {
  const worker = idBytes(request.worker);
  const row = sql.get("worker_may_claim", { worker, now: clock.now() });
  if (row === undefined) return LOST;
  return row.quiet === 1 ? EMPTY : null;
}

export function readClaimed(
  session: Session,
  candidates: readonly Candidate[],
  limits: ClaimLimits | null,
): ClaimedJob[] {
  const rows = session.sql.tuples("claimed_jobs", { keys: keyList(candidates) });
  return candidates.map((candidate, index) => {
    const row = rows[index];
    if (row === undefined) throw new Error(`job ${candidate.key} is ready but has no row`);
    const job = claimedJob(session, row, candidate);
    const [, type, tenant] = row;
    const own = limits?.of({ type, tenant }) ?? [];
    // A copy of each job would cost more than all else that limits need here.
    return own.length === 0 ? job : Object.assign(job, { limits: own });
  });
}

function claimedJob(
  { names }: Session,
  row: QueryTuples["claimed_jobs"],
  { key, n, tries, crashes, priority, rank }: Candidate,
): ClaimedJob {
  const [idOf, type, tenant, lane, maxAttempts, timeoutMs, payload, payloadVersion] = row;
  const [, , , , , , , , correlation, parent, concurrencyKey, tags, createdAt, flags, successor] =
    row;
  const id = idFromBytes(idOf);
  const { onOrphan, retryOwner } = policyOfFlags(flags);
  return {
    key,
    id,
    n,
    tries,
    crashes,
    isSuccessor: successor === 1,
    type: names.text(type),
    tenant: names.text(tenant),
    lane: names.text(lane),
    priority,
    payload,
    payloadVersion,
    correlationId: correlation ?? idUuid(id),
    parentId: parent === null ? null : idFromBytes(parent),
    timeoutMs,
    concurrencyKey,
    tags: tagsOf(tags),
    createdAt,
    runAt: Math.floor(rank / 1000),
    maxAttempts,
    onOrphan,
    retryOwner,
  };
}
