/** The candidates of a claim: the most urgent due jobs without a closed gate or a taken key. */
import { RANK_START, rankByDue } from "../../../core/control/fairness.ts";
import type { NameKind } from "../../shared/codes.ts";
import { bounded } from "../../shared/limits.ts";
import { PRIORITY_END, type ClaimRange, type Ranges } from "../../shared/claim-cursor.ts";
import { BATCH_MAX } from "../../store.ts";
import type { ClaimRequest, CrashedLimits, JobKey } from "../../types/jobs-and-runs.ts";
import type { QueryTuples } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import type { ClaimLimits } from "./claim-limits.ts";

/** How much further a claim scans when many jobs share few keys, and how far at most. */
const REACH_FACTOR = 8;
const REACH_MAX = 32_000;
/** The maximum of payload bytes in one claim: bounds the blocked time and the worker's memory. */
const CLAIM_BYTES_MAX = 8_000_000;

/** A due job and its position in the order of claims. */
export interface Candidate {
  readonly key: JobKey;
  readonly priority: number;
  readonly rank: number;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  /** The due time in milliseconds, if the rank is a turn. */
  readonly due?: number | null;
}

export interface ReadyJob extends Candidate {
  readonly lane: number;
  readonly type: number;
  readonly tenant: number;
  readonly concurrency: string | null;
  /** The job is not in `ready`, but in the queue of a limit. */
  readonly isQueued: boolean;
}

/** A key that is left to a job which must run alone. Only more urgent jobs may lock it. */
interface AwaitedKey {
  readonly tenant: number;
  readonly concurrency: string | null;
  readonly priority: number;
}

/** What a claim asks for, in the numbers of the database, and whether jobs with crashes wait. */
export interface ClaimScan {
  readonly lanes: readonly number[];
  /** JSON lists; null: all. */
  readonly onlyLanes: string | null;
  readonly types: string | null;
  readonly tenants: string | null;
  readonly now: number;
  /** The numbers of crashes of due jobs in the lanes that have crashed before. */
  readonly crashNumbers: readonly number[];
  /** Crashes have closed the gate of a type. */
  readonly hasClosed: boolean;
  readonly awaited: AwaitedKey | null;
  readonly limits: ClaimLimits | null;
  /** The only priority of jobs in the queues of limits; null: all. */
  readonly priority: number | null;
}

export function scanOf(
  session: Session,
  request: Pick<ClaimRequest, "lanes" | "types" | "tenants">,
  limits: ClaimLimits | null,
): ClaimScan {
  const { sql, clock } = session;
  const now = clock.now();
  const lanes = lanesOf(session, request);
  const look = sql.get("look_for_crashed", { lanes: JSON.stringify(lanes) });
  return {
    lanes,
    onlyLanes: request.lanes === "any" ? null : JSON.stringify(lanes),
    types: idList(session, "type", request.types),
    tenants: idList(session, "tenant", request.tenants),
    now,
    crashNumbers: look?.has_crashed === 1 ? crashNumbersOf(session, lanes) : [],
    hasClosed: look?.has_closed === 1,
    awaited: null,
    limits,
    priority: null,
  };
}

/** The numbers of crashes, above 0, of the due jobs of these lanes. */
export function crashNumbersOf({ sql }: Session, lanes: readonly number[]): readonly number[] {
  return sql.all("crash_numbers", { lanes: JSON.stringify(lanes) }).map((row) => row.crashes);
}

/**
 * The most urgent jobs for the request, and only the most urgent job of each key. Of the jobs that
 * have crashed before, the most urgent up to each limit take part, and no others. The ranges are
 * those of jobs without crashes.
 */
export function findCandidates(
  session: Session,
  scan: ClaimScan,
  request: Pick<ClaimRequest, "limit" | "prefetch" | "crashed">,
  ranges: Ranges,
): readonly ReadyJob[] {
  const limit = bounded(request.limit, BATCH_MAX);
  const { crashed: limits, prefetch } = request;
  const unlimited = prefetch || limits !== undefined ? [] : scan.crashNumbers;
  const crashed = prefetch || limits === undefined ? [] : findLimited(session, scan, limits);
  const others = [...crashed, ...findInQueues(session, scan, { limit, prefetch })];
  const crashNumbers = [0, ...unlimited];
  let keyed: readonly ReadyJob[] = [];
  for (let reach = limit; ; reach *= REACH_FACTOR) {
    const wanted = { crashNumbers, prefetch, reach, keyed, ranges };
    const { jobs, horizon } = findReady(session, scan, wanted);
    const all = others.length === 0 ? jobs : [...jobs, ...others].toSorted(byClaimOrder);
    const first = oneOfEachKey(all);
    // Beyond its horizon a lane may have jobs that are more urgent than those of other lanes.
    const sure = horizon === null ? first : first.filter((job) => byClaimOrder(job, horizon) <= 0);
    if (sure.length >= limit || horizon === null || reach >= REACH_MAX) {
      return first.slice(0, limit);
    }
    keyed = sure.filter(({ concurrency }) => concurrency !== null);
  }
}

/** The most urgent jobs in the queues of limits that have a permit left. */
export function findInQueues(
  session: Session,
  scan: ClaimScan,
  { limit, prefetch }: Pick<ClaimRequest, "limit" | "prefetch">,
): readonly ReadyJob[] {
  const { limits } = scan;
  if (limits === null) return [];
  return limits.queues.flatMap(({ gate, room }) => {
    if (session.sql.get("any_limited", { gate }) === undefined) return [];
    const wanted = { gate, prefetch, full: limits.full, limit: Math.min(limit, room) };
    const found = findInQueue(session, scan, wanted);
    return found.toSorted(byClaimOrder).slice(0, wanted.limit);
  });
}

interface QueueRequest extends Pick<ClaimRequest, "limit" | "prefetch"> {
  readonly gate: number;
  readonly full: string;
}

/** The most urgent jobs in the queue of a limit, up to the limit of each lane. */
function findInQueue(
  { sql }: Session,
  scan: ClaimScan,
  { gate, prefetch, full, limit }: QueueRequest,
): readonly ReadyJob[] {
  const [first_priority, last_priority] = [scan.priority ?? 0, scan.priority ?? PRIORITY_END];
  const priorities = { first_priority, last_priority };
  const wanted = { gate, ...priorities, ...filterOf(scan, prefetch), full, limit };
  return sql.all("queue_lanes", { gate, lanes: scan.onlyLanes }).flatMap(({ lane }) => {
    const rows = sql.tuples("claim_limited", { ...wanted, lane });
    return rows.map((row) => ({ ...readyJob(row, lane), isQueued: true }));
  });
}

/** The job with its rank by due time: its turn ends. */
export function withoutTurn(job: ReadyJob): ReadyJob {
  return { ...job, rank: rankByDue(job.rank, job.due ?? null) };
}

/** The most urgent jobs with crashes, up to the limit of each number of crashes. */
function findLimited(
  session: Session,
  scan: ClaimScan,
  { once, often, cap }: CrashedLimits,
): readonly ReadyJob[] {
  const below = scan.crashNumbers.filter((crashes) => crashes < cap);
  const [single, several] = [below.filter((n) => n === 1), below.filter((n) => n > 1)];
  return [
    ...findMostUrgent(session, scan, single, bounded(once, BATCH_MAX)),
    ...findMostUrgent(session, scan, several, bounded(often, BATCH_MAX)),
  ];
}

/** The most urgent jobs with one of these numbers of crashes that nothing blocks. */
export function findMostUrgent(
  session: Session,
  scan: ClaimScan,
  crashNumbers: readonly number[],
  limit: number,
): readonly ReadyJob[] {
  const request = { crashNumbers, prefetch: false, reach: limit, keyed: [], ranges: null };
  return findReady(session, scan, request).jobs.slice(0, limit);
}

interface ReadyRequest extends Pick<ClaimRequest, "prefetch"> {
  readonly crashNumbers: readonly number[];
  readonly reach: number;
  readonly keyed: readonly ReadyJob[];
  readonly ranges: Ranges;
}

/**
 * The most urgent jobs without a closed gate or a taken key, up to `reach` per lane and number
 * of crashes. Of the keys in `keyed`, only the jobs in `keyed`. Beyond `horizon` there may be more
 * jobs; null: there are none.
 */
function findReady(
  { sql }: Session,
  scan: ClaimScan,
  { crashNumbers, prefetch, reach, keyed, ranges }: ReadyRequest,
): { readonly jobs: readonly ReadyJob[]; readonly horizon: ReadyJob | null } {
  const { lanes, limits } = scan;
  const wanted = {
    ...filterOf(scan, prefetch),
    names: JSON.stringify(keyed.map(nameOf)),
    first: keyList(keyed),
    full: limits?.full ?? null,
  };
  const scanRanges = (lane: number, crashes: number): readonly ReadyJob[] => {
    const jobs: ReadyJob[] = [];
    for (const range of rangesOf(ranges, lane, crashes)) {
      if (jobs.length >= reach) break;
      const position = { ...wanted, ...positionOf(range), limit: reach - jobs.length };
      const rows = sql.tuples("claim_candidates", { lane, crashes, ...position });
      jobs.push(...rows.map((row) => readyJob(row, lane)));
    }
    return jobs;
  };
  const found = lanes.flatMap((lane) => crashNumbers.map((crashes) => scanRanges(lane, crashes)));
  const ends = found.flatMap((jobs) => (jobs.length < reach ? [] : jobs.slice(-1)));
  return {
    jobs: found.length > 1 ? found.flat().toSorted(byClaimOrder) : found.flat(),
    horizon: ends.toSorted(byClaimOrder)[0] ?? null,
  };
}

/** The parameters that exclude jobs. */
function filterOf({ types, tenants, now, awaited }: ClaimScan, prefetch: boolean): ClaimFilter {
  return {
    types,
    tenants,
    prefetch: prefetch ? 1 : 0,
    awaited: awaited?.concurrency ?? null,
    awaited_tenant: awaited?.tenant ?? 0,
    awaited_priority: awaited?.priority ?? 0,
    now,
  };
}

interface ClaimFilter {
  readonly types: string | null;
  readonly tenants: string | null;
  readonly prefetch: number;
  readonly awaited: string | null;
  readonly awaited_tenant: number;
  readonly awaited_priority: number;
  readonly now: number;
}

/** The ranges of a lane. Jobs that have crashed before have no marks. */
function rangesOf(ranges: Ranges, lane: number, crashes: number): readonly ClaimRange[] {
  const whole = [{ lane, priority: 0, rank: RANK_START, key: 0, end: PRIORITY_END }];
  if (ranges === null || crashes > 0) return whole;
  const own = ranges.filter((range) => range.lane === lane);
  return own.length > 0 ? own : whole;
}

function positionOf({ priority, rank, key, end }: ClaimRange): Position {
  return { after_priority: priority, after_rank: rank, after_key: key, end };
}

interface Position {
  readonly after_priority: number;
  readonly after_rank: number;
  readonly after_key: number;
  readonly end: number;
}

function readyJob(row: QueryTuples["claim_candidates"], lane: number): ReadyJob {
  const [key, priority, rank, n, tries, crashes, tenant, concurrency, type, due] = row;
  const place = { key, priority, rank, n, tries, crashes, due, lane, isQueued: false };
  return { ...place, type, tenant, concurrency };
}

function oneOfEachKey(jobs: readonly ReadyJob[]): readonly ReadyJob[] {
  const taken = new Set<string>();
  return jobs.filter((job) => {
    if (job.concurrency === null) return true;
    const name = nameOf(job);
    const isFirst = !taken.has(name);
    taken.add(name);
    return isFirst;
  });
}

/** A key in the form of the query. */
function nameOf({ tenant, concurrency }: ReadyJob): string {
  return `${tenant}.${concurrency}`;
}

/** The first candidates within {@link CLAIM_BYTES_MAX}, and at least one. */
export function withinWeight(
  { sql }: Session,
  candidates: readonly ReadyJob[],
): readonly ReadyJob[] {
  const sizes = sql.tuples("payload_sizes", { keys: keyList(candidates) });
  let weight = 0;
  const end = sizes.findIndex(([bytes], index) => {
    weight += bytes;
    return index > 0 && weight > CLAIM_BYTES_MAX;
  });
  return end === -1 ? candidates : candidates.slice(0, end);
}

export function lanesOf({ sql, names }: Session, { lanes }: Pick<ClaimRequest, "lanes">): number[] {
  if (lanes === "any") return sql.all("ready_lanes", {}).map((row) => row.lane);
  return [...new Set(lanes)].flatMap((lane) => names.find("lane", lane) ?? []);
}

/** Ids as a JSON list; null without a filter. An unknown name has no jobs and is left out. */
function idList(
  { names }: Session,
  kind: NameKind,
  texts: readonly string[] | undefined,
): string | null {
  if (texts === undefined) return null;
  return JSON.stringify(texts.flatMap((text) => names.find(kind, text) ?? []));
}

export function keyList(candidates: readonly Candidate[]): string {
  return JSON.stringify(candidates.map(({ key }) => key));
}

/** The order of claims. */
export function byUrgency(
  left: Pick<Candidate, "priority" | "rank" | "key">,
  right: Pick<Candidate, "priority" | "rank" | "key">,
): number {
  return left.priority - right.priority || left.rank - right.rank || left.key - right.key;
}

/**
 * The order of claims. Within a priority, jobs that have crashed before come first: a backlog must
 * not put off the run that shows whether a job kills its process.
 */
function byClaimOrder(left: Candidate, right: Candidate): number {
  const isFresh = ({ crashes }: Candidate): number => (crashes === 0 ? 1 : 0);
  const order = left.priority - right.priority || isFresh(left) - isFresh(right);
  return order || byUrgency(left, right);
}
