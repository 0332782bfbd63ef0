/** claim, start and handBack: how a batch of due jobs comes into a worker's hands, and back. */
import { idBytes, idFromBytes } from "../../core/ids.ts";
import { FLAG_FAIL_ORPHAN, FLAG_SUPERVISED, nameCodec } from "../codes.ts";
import type { Claim, ClaimedJob, ClaimRequest, JobKey, Lease } from "../store.ts";
import { endUnstarted, findCancelRequests } from "./cancel.ts";
import { tagsOf } from "./inspect.ts";
import type { NameKind } from "./names.ts";
import type { CandidateRow, ClaimedRow, LeaseRow, UnfinishedRow } from "./rows.ts";
import { parseNumbers, putBack, type Session } from "./session.ts";

const SECRET_BYTES = 8;
/** Jobs in one lease; the schema refuses more. */
const LEASE_JOBS_MAX = 500;

const EMPTY: Claim = { lease: null, jobs: [], lost: false };
const LOST: Claim = { lease: null, jobs: [], lost: true };

/** Looks without the write lock, so that idle workers take none. Null: there is something. */
export function claimsNothing(session: Session, request: ClaimRequest): Claim | null {
  if (!mayClaim(session, request)) return LOST;
  return findCandidates(session, { ...request, limit: 1 }).length === 0 ? EMPTY : null;
}

export function claim(session: Session, request: ClaimRequest): Claim {
  const { sql, clock, tidings } = session;
  if (!mayClaim(session, request)) return LOST;
  const candidates = findCandidates(session, request);
  if (candidates.length === 0) return EMPTY;

  const now = clock.now();
  const worker = idBytes(request.worker);

  const keys = JSON.stringify(candidates.map((candidate) => candidate.key));
  const secret = Buffer.from(session.dice.bytes(SECRET_BYTES)).toString("hex");
  sql.run("delete_ready", { keys });
  const { lastKey: number } = sql.run("insert_lease", {
    secret,
    worker,
    keys,
    ns: JSON.stringify(candidates.map((candidate) => candidate.n)),
    ranks: JSON.stringify(candidates.map((candidate) => candidate.rank)),
    claimed_at: now,
    started_at: request.buffer ? null : now,
  });
  if (!request.buffer) {
    tidings.tell(
      "job:started",
      candidates.map((candidate) => candidate.key),
    );
  }
  return { lease: { number, secret }, jobs: readClaimed(session, keys, candidates), lost: false };
}

function mayClaim({ sql, clock }: Session, request: ClaimRequest): boolean {
  const worker = idBytes(request.worker);
  return sql.get("worker_may_claim", { worker, now: clock.now() }) !== undefined;
}

/** The most urgent jobs that the request may have. */
function findCandidates(session: Session, request: ClaimRequest): readonly CandidateRow[] {
  const now = session.clock.now();
  const limit = Math.min(request.limit, LEASE_JOBS_MAX);
  const found = lanesOf(session, request).flatMap((lane) =>
    session.sql.all("claim_candidates", {
      lane,
      types: idList(session, "type", request.types),
      tenants: idList(session, "tenant", request.tenants),
      buffer: request.buffer ? 1 : 0,
      now,
      limit,
    }),
  );
  return found.toSorted(byUrgency).slice(0, limit);
}

function lanesOf({ sql, names }: Session, { lanes }: ClaimRequest): number[] {
  if (lanes === "any") {
    return sql.all("names_of_kind", { kind: nameCodec.code.lane }).map((row) => row.id);
  }
  return [...new Set(lanes)].flatMap((lane) => names.find("lane", lane) ?? []);
}

/** Ids as a JSON list; null when there is no such filter. A name never met has no jobs. */
function idList(
  { names }: Session,
  kind: NameKind,
  texts: readonly string[] | undefined,
): string | null {
  if (texts === undefined) return null;
  return JSON.stringify(texts.flatMap((text) => names.find(kind, text) ?? []));
}

function byUrgency(left: CandidateRow, right: CandidateRow): number {
  return left.priority - right.priority || left.rank - right.rank || left.key - right.key;
}

function readClaimed(
  session: Session,
  keys: string,
  candidates: readonly CandidateRow[],
): ClaimedJob[] {
  const rows = new Map(session.sql.all("claimed_jobs", { keys }).map((row) => [row.key, row]));
  return candidates.map((candidate) => {
    const row = rows.get(candidate.key);
    if (row === undefined) throw new Error(`job ${candidate.key} is ready but has no row`);
    return claimedJob(session, row, candidate);
  });
}

function claimedJob({ names }: Session, row: ClaimedRow, run: CandidateRow): ClaimedJob {
  const id = idFromBytes(row.id);
  return {
    key: row.key,
    id,
    n: run.n,
    tries: run.tries,
    crashes: run.crashes,
    type: names.text(row.type),
    tenant: names.text(row.tenant),
    lane: names.text(row.lane),
    priority: row.priority,
    payload: row.payload,
    payloadVersion: row.payload_version,
    correlationId: row.correlation ?? id,
    parentId: row.parent === null ? null : idFromBytes(row.parent),
    timeoutMs: row.timeout_ms,
    concurrencyKey: row.concurrency,
    tags: tagsOf(row.tags),
    createdAt: row.created_at,
    runAt: Math.floor(run.rank / 1000),
    ...policyOf(row),
  };
}

/** The part of a job that decides about its retries. */
export function policyOf(row: {
  readonly max_attempts: number;
  readonly flags: number;
}): Pick<ClaimedJob, "maxAttempts" | "onOrphan" | "retryOwner"> {
  return {
    maxAttempts: row.max_attempts,
    onOrphan: (row.flags & FLAG_FAIL_ORPHAN) === 0 ? "retry" : "fail",
    retryOwner: (row.flags & FLAG_SUPERVISED) === 0 ? "queue" : "supervisor",
  };
}

/** Begins a buffer. Jobs that somebody asked to cancel end here instead. */
export function start(
  session: Session,
  { number, secret }: Lease,
): { status: "started" | "stale"; cancelled: JobKey[] } {
  const { sql, clock, tidings } = session;
  const lease = sql.get("find_lease", { number, secret });
  if (lease === undefined) return { status: "stale", cancelled: [] };
  // A repeat after a lost answer.
  if (lease.started_at !== null) return { status: "started", cancelled: [] };

  const { asked, others } = splitByRequest(session, lease);
  endUnstarted(session, asked);
  keepInLease(session, lease, others);
  sql.run("start_lease", { number, now: clock.now() });
  tidings.tell(
    "job:started",
    others.map(({ key }) => key),
  );
  return { status: "started", cancelled: asked.map(({ key }) => key) };
}

/** Gives unstarted jobs back, as they lay. One that was asked to stop ends instead. */
export function handBack(
  session: Session,
  { number, secret }: Lease,
  keys: readonly JobKey[],
): number {
  const lease = session.sql.get("find_lease", { number, secret });
  if (lease === undefined || lease.started_at !== null) return 0;
  const { asked, others } = splitByRequest(session, lease);
  const wanted = new Set(keys);
  const returned = others.filter(({ key }) => wanted.has(key));
  endUnstarted(session, asked);
  for (const job of returned) putBack(session, job);
  keepInLease(
    session,
    lease,
    others.filter(({ key }) => !wanted.has(key)),
  );
  return returned.length;
}

/** The unstarted jobs of a buffer: those that somebody asked to cancel, and the others. */
export function splitByRequest(
  session: Session,
  lease: LeaseRow,
): {
  asked: readonly (UnfinishedRow & { readonly reason: string | null })[];
  others: readonly UnfinishedRow[];
} {
  const jobs = session.sql.all("unfinished_jobs", { number: lease.number });
  const requests = findCancelRequests(
    session,
    jobs.map(({ key }) => key),
  );
  return {
    asked: jobs
      .filter(({ key }) => requests.has(key))
      .map((job) => ({ ...job, reason: requests.get(job.key) ?? null })),
    others: jobs.filter(({ key }) => !requests.has(key)),
  };
}

/** Narrows a buffer to these jobs; an empty one goes. */
export function keepInLease(
  { sql }: Session,
  lease: LeaseRow,
  jobs: readonly UnfinishedRow[],
): void {
  if (jobs.length === 0) {
    sql.run("delete_lease", { number: lease.number });
    return;
  }
  if (jobs.length === parseNumbers(lease.keys).length) return;
  sql.run("set_lease_keys", {
    number: lease.number,
    keys: JSON.stringify(jobs.map(({ key }) => key)),
    ns: JSON.stringify(jobs.map(({ n }) => n)),
    ranks: JSON.stringify(jobs.map(({ rank }) => rank)),
  });
}
