/** The candidates of a claim: the most urgent due jobs without a closed gate or a taken key. */
import type { NameKind } from "../../shared/codes.ts";
import { bounded } from "../../shared/limits.ts";
import { BATCH_MAX } from "../../store.ts";
import type { ClaimRequest, JobKey } from "../../types/jobs-and-runs.ts";
import type { QueryTuples } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";

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
}

export interface ReadyJob extends Candidate {
  readonly tenant: number;
  readonly concurrency: string | null;
}

/** The most urgent jobs for the request, and only the most urgent job of each key. */
export function findCandidates(session: Session, request: ClaimRequest): readonly ReadyJob[] {
  const limit = bounded(request.limit, BATCH_MAX);
  let keyed: readonly ReadyJob[] = [];
  for (let reach = limit; ; reach *= REACH_FACTOR) {
    const { jobs, horizon } = findReady(session, request, reach, keyed);
    const first = oneOfEachKey(jobs);
    // Beyond its horizon a lane may have jobs that are more urgent than those of other lanes.
    const sure = horizon === null ? first : first.filter((job) => byUrgency(job, horizon) <= 0);
    if (sure.length >= limit || horizon === null || reach >= REACH_MAX) {
      return withinWeight(session, first.slice(0, limit));
    }
    keyed = sure.filter(({ concurrency }) => concurrency !== null);
  }
}

/**
 * The most urgent jobs without a closed gate or a taken key, up to `reach` per lane. Of the keys in
 * `keyed`, only the jobs in `keyed`. Beyond `horizon` there may be more jobs; null: there are none.
 */
function findReady(
  session: Session,
  request: ClaimRequest,
  reach: number,
  keyed: readonly ReadyJob[],
): { readonly jobs: readonly ReadyJob[]; readonly horizon: ReadyJob | null } {
  const { clock, sql } = session;
  const lanes = lanesOf(session, request);
  const wanted = {
    types: idList(session, "type", request.types),
    tenants: idList(session, "tenant", request.tenants),
    prefetch: request.prefetch ? 1 : 0,
    names: JSON.stringify(keyed.map(nameOf)),
    first: keyList(keyed),
    now: clock.now(),
    limit: reach,
  };
  const found = lanes.map((lane) =>
    sql.tuples("claim_candidates", { lane, ...wanted }).map(readyJob),
  );
  const ends = found.flatMap((jobs) => (jobs.length < reach ? [] : jobs.slice(-1)));
  return {
    jobs: lanes.length > 1 ? found.flat().toSorted(byUrgency) : found.flat(),
    horizon: ends.toSorted(byUrgency)[0] ?? null,
  };
}

function readyJob(row: QueryTuples["claim_candidates"]): ReadyJob {
  const [key, priority, rank, n, tries, crashes, tenant, concurrency] = row;
  return { key, priority, rank, n, tries, crashes, tenant, concurrency };
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
function withinWeight({ sql }: Session, candidates: readonly ReadyJob[]): readonly ReadyJob[] {
  const sizes = sql.tuples("payload_sizes", { keys: keyList(candidates) });
  let weight = 0;
  const end = sizes.findIndex(([bytes], index) => {
    weight += bytes;
    return index > 0 && weight > CLAIM_BYTES_MAX;
  });
  return end === -1 ? candidates : candidates.slice(0, end);
}

function lanesOf({ sql, names }: Session, { lanes }: ClaimRequest): number[] {
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

function byUrgency(left: Candidate, right: Candidate): number {
  return left.priority - right.priority || left.rank - right.rank || left.key - right.key;
}
