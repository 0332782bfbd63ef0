/** claim: leases a batch of due jobs to a worker. */
import { systemClock } from "../../../lib/system.ts";
import type { LimitId, PermitCount } from "../../../core/control/permits.ts";
import type { NameKind } from "../../shared/codes.ts";
import { INSTALLATION, limitsByTarget } from "../../shared/control/limit-rows.ts";
import { permitsOf, withPermits } from "../../shared/lost-claim.ts";
import { BATCH_MAX } from "../../store.ts";
import type { Claim, ClaimRequest } from "../../types/jobs-and-runs.ts";
import { returnPrefetched } from "./prefetch.ts";
import { UncertainWrite } from "../database/errors.ts";
import {
  AGED_CLASSES_MAX,
  CLASSES_MAX,
  classRange,
  LowWaterMarks,
  type ClaimRange,
} from "../../shared/claim-cursor.ts";
import { batchOf, type ClaimedBatch } from "./claimed-batch.ts";
import type { InternedName } from "../database/interned-names.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session } from "../database/session.ts";
import type { Bound } from "../database/statements.ts";
import { list, uuidOf } from "../database/values.ts";

/** 128 bits cannot be guessed. */
const SECRET_BYTES = 16;

export async function claim(session: Session, request: ClaimRequest): Promise<Claim> {
  const limit = bounded(request.limit, BATCH_MAX);
  const found = await findLostClaim(session, { ...request, limit });
  if (found !== null) return found;
  const wanted = { ...(await filterOf(session, request)), prefetch: request.prefetch };
  const cursor = claimCursorsOf(session).of(JSON.stringify([wanted, fullLimits(session, request)]));
  const aged = await claimAged(session, request, { ...wanted, limit, priority: null });
  const { answer } =
    aged ??
    (await cursor.scan(limit, (ranges) =>
      claimBatch(session, request, { ...wanted, limit, ranges, priority: null }),
    ));
  session.state.fullLimits = answer.permits?.full.map(({ limit: full }) => full) ?? [];
  return answer;
}

/**
 * Claims from the lanes and priorities with jobs that have waited too long, the longest wait first.
 * Null: there are none, or the claim has found no job there.
 */
async function claimAged(
  session: Session,
  request: ClaimRequest,
  wanted: Omit<BatchRequest, "ranges">,
): Promise<ClaimedBatch | null> {
  const { olderThanMs, crashed } = request;
  if (olderThanMs === undefined) return null;
  const { lanes } = wanted;
  const bounds = { hops: CLASSES_MAX, classes: AGED_CLASSES_MAX, older: olderThanMs };
  const fresh = { ...request, crashed: { cap: crashed?.cap ?? 1, once: 0, often: 0 } };
  for (const found of await session.read.all("longest_due_classes", { lanes, ...bounds })) {
    const { lane, priority } = found;
    const only = { lanes: list([lane]), ranges: [classRange(lane, priority)], priority };
    const batch = await claimBatch(session, fresh, { ...wanted, ...only });
    if (batch.count > 0 || batch.answer.lost) return batch;
  }
  return null;
}

/**
 * The limits that are most likely used up for this claim: those of the last claim, without those of
 * which the worker has free permits. A claim that skips other jobs needs a cursor of its own.
 */
function fullLimits({ state }: Session, { permits = [] }: ClaimRequest): readonly LimitId[] {
  if (state.fullLimits.length === 0) return state.fullLimits;
  return state.fullLimits.filter((full) => permits.every(({ limit }) => limit !== full));
}

/** The permits that a worker lends to a claim, as parameters. */
export function lentParameters({
  permits = [],
}: Pick<ClaimRequest, "permits">): Pick<Bound<"claim">, "lent" | "lent_counts"> {
  return {
    lent: list(permits.map(({ limit }) => limit)),
    lent_counts: list(permits.map(({ count }) => count)),
  };
}

function claimCursorsOf({ state, notifier, clock }: Session): LowWaterMarks {
  if (state.claimCursors !== null) return state.claimCursors;
  const cursors = new LowWaterMarks(
    () => (clock ?? systemClock).monotonic(),
    (ms) => notifier.wakeOwnIn(ms),
  );
  notifier.watch((wakeUp) => cursors.onWakeUp(wakeUp));
  state.claimCursors = cursors;
  return cursors;
}

/** The filter of a claim, as parameters: lists of ids; null for all. */
interface ClaimFilter {
  readonly lanes: string | null;
  readonly types: string | null;
  readonly tenants: string | null;
}

export async function filterOf(
  session: Session,
  request: Pick<ClaimRequest, "lanes" | "types" | "tenants">,
): Promise<ClaimFilter> {
  const { types, tenants } = request;
  const lanes = request.lanes === "any" ? undefined : request.lanes;
  // A new name has no jobs, but once it is interned, no claim looks it up again.
  await session.names.intern([
    ...namesOf("lane", lanes),
    ...namesOf("type", types),
    ...namesOf("tenant", tenants),
  ]);
  return {
    lanes: idList(session, "lane", lanes),
    types: idList(session, "type", types),
    tenants: idList(session, "tenant", tenants),
  };
}

function namesOf(kind: NameKind, texts: readonly string[] = []): InternedName[] {
  return texts.map((text) => ({ kind, text }));
}

function idList(
  { names }: Session,
  kind: NameKind,
  texts: readonly string[] | undefined,
): string | null {
  if (texts === undefined) return null;
  return list(texts.flatMap((text) => names.known(kind, text) ?? []));
}

/** The parameters of one claim statement. */
interface BatchRequest extends ClaimFilter {
  readonly prefetch: boolean;
  readonly limit: number;
  readonly ranges: readonly ClaimRange[] | null;
  /** The only priority of jobs in the queues of limits; null: all. */
  readonly priority: number | null;
}

async function claimBatch(
  session: Session,
  request: ClaimRequest,
  { ranges, ...wanted }: BatchRequest,
): Promise<ClaimedBatch> {
  const secret = newSecret(session);
  const worker = uuidOf(request.worker);
  const limits = { ...crashedParameters(request), ...lentParameters(request) };
  const parameters = { ...wanted, ...limits, ...rangeParameters(ranges), worker, secret };
  try {
    const rows = await session.write.tuples("claim", parameters);
    const batch = await batchOf(session, rows, secret);
    const { lease, jobs } = batch.answer;
    if (lease !== null) {
      session.state.ownEvents.claimed(jobs, wanted.prefetch ? null : batch.claimedAt);
    }
    if (lease !== null && !wanted.prefetch) session.notifier.wake("events");
    // The promoters of all workers find out when the key has a token.
    if (batch.isSpent) session.wakeForReturned("work");
    return batch;
  } catch (error) {
    if (error instanceof UncertainWrite) session.state.lostClaims.add(request, secret);
    throw error;
  }
}

/** The client makes the secret of a lease, so that a claim whose answer was lost can be found. */
export function newSecret({ dice }: Session): string {
  return Buffer.from(dice.bytes(SECRET_BYTES)).toString("hex");
}

/** The limits for jobs that have crashed before. Null: no limit. */
function crashedParameters({
  crashed,
}: ClaimRequest): Pick<Bound<"claim">, "once" | "often" | "cap"> {
  if (crashed === undefined) return { once: null, often: null, cap: null };
  const { once, often, cap } = crashed;
  return { once: bounded(once, BATCH_MAX), often: bounded(often, BATCH_MAX), cap };
}

type RangeParameters = Pick<
  Bound<"claim">,
  "mark_lanes" | "mark_priorities" | "mark_ranks" | "mark_keys" | "mark_ends"
>;

/** One list for each column of the ranges. */
function rangeParameters(ranges: readonly ClaimRange[] | null): RangeParameters {
  const column = (name: keyof ClaimRange): string | null =>
    ranges === null ? null : list(ranges.map((range) => range[name]));
  return {
    mark_lanes: column("lane"),
    mark_priorities: column("priority"),
    mark_ranks: column("rank"),
    mark_keys: column("key"),
    mark_ends: column("end"),
  };
}

/**
 * Finds the jobs of the worker's lost claims. Started jobs are answered to the next claims for the
 * same slots, at most `limit` per claim. Prefetched jobs have not started and are returned to the
 * queue, because the current claim may be for immediate execution.
 */
export async function findLostClaim(
  session: Session,
  request: ClaimRequest,
): Promise<Claim | null> {
  const { lostClaims } = session.state;
  for (const lostClaim of lostClaims.due(request)) {
    const { secret, delivered } = lostClaim;
    const worker = uuidOf(request.worker);
    const rows = await session.read.tuples("claimed_by", { worker, secret });
    const batch = await batchOf(session, rows, secret);
    const answer = await withLimits(session, batch.answer);
    if (answer.lease === null) {
      lostClaims.notFound(lostClaim);
      continue;
    }
    const unanswered = answer.jobs.filter(({ key }) => !delivered.has(key));
    if (lostClaim.request.prefetch) {
      const keys = unanswered.map(({ key }) => key);
      await returnPrefetched(session, answer.lease, keys);
      lostClaims.resolve(lostClaim);
      continue;
    }
    const jobs = unanswered.slice(0, request.limit);
    const granted = permitsOf(jobs);
    if (granted.length > 0) await notePermits(session, worker, granted);
    for (const { key } of jobs) delivered.add(key);
    if (jobs.length === unanswered.length) lostClaims.resolve(lostClaim);
    if (jobs.length > 0) return withPermits({ ...answer, jobs }, granted);
  }
  return null;
}

async function notePermits(
  { write }: Session,
  worker: string,
  granted: readonly PermitCount[],
): Promise<void> {
  const limits = list(granted.map(({ limit }) => limit));
  await write.run("note_permits", { worker, limits, counts: list(granted.map((of) => of.count)) });
}

/** The jobs of a lost claim, each with the limits that apply to it. */
async function withLimits({ read, names }: Session, answer: Claim): Promise<Claim> {
  const rows = answer.lease === null ? [] : await read.all("limit_targets", {});
  if (rows.length === 0) return answer;
  const byTarget = limitsByTarget(rows);
  const jobs = answer.jobs.map((job) => {
    const own = [names.known("type", job.type), names.known("tenant", job.tenant), INSTALLATION];
    return { ...job, limits: own.flatMap((target) => byTarget.get(target ?? -1) ?? []) };
  });
  return { ...answer, jobs, permits: { granted: [], full: [], wanted: [], isCut: false } };
}
