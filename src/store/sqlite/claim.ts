/** claim: how a batch of due jobs comes into a worker's hands. */
import { idBytes, idFromBytes } from "../../core/ids.ts";
import { policyOfFlags } from "../codes.ts";
import type { Claim, ClaimedJob, ClaimRequest, CrashFacts } from "../store.ts";
import { tagsOf } from "./inspect.ts";
import { listsOf, type HeldJob } from "./lease.ts";
import type { NameKind } from "./names.ts";
import type { CandidateRow, ClaimedRow } from "./rows.ts";
import { bounded, type Session } from "./session.ts";

const SECRET_BYTES = 8;
/** Jobs in one lease; the schema refuses more. */
const LEASE_JOBS_MAX = 500;
/** Payloads in one claim: more would hold up the loop and the memory of the worker. */
const CLAIM_BYTES_MAX = 8_000_000;

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

  const startedAt = request.buffer ? null : now;
  const lists = listsOf(candidates.map((candidate) => ({ ...candidate, startedAt })));
  const secret = Buffer.from(session.dice.bytes(SECRET_BYTES)).toString("hex");
  sql.run("delete_ready", { keys: lists.keys });
  const { lastKey: number } = sql.run("insert_lease", {
    secret,
    worker,
    ...lists,
    claimed_at: now,
  });
  const jobs = readClaimed(session, lists.keys, candidates);
  if (!request.buffer) {
    tidings.tellOf(
      "job:started",
      jobs.map(({ id }) => id),
    );
  }
  return { lease: { number, secret }, jobs, lost: false };
}

function mayClaim({ sql, clock }: Session, request: ClaimRequest): boolean {
  const worker = idBytes(request.worker);
  return sql.get("worker_may_claim", { worker, now: clock.now() }) !== undefined;
}

/** The most urgent jobs that the request may have. */
function findCandidates(session: Session, request: ClaimRequest): readonly CandidateRow[] {
  const now = session.clock.now();
  const limit = bounded(request.limit, LEASE_JOBS_MAX);
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
  return withinWeight(session, found.toSorted(byUrgency).slice(0, limit));
}

/** As many as weigh no more than a worker can take at once, but at least one. */
function withinWeight({ sql }: Session, candidates: readonly CandidateRow[]): CandidateRow[] {
  const keys = JSON.stringify(candidates.map(({ key }) => key));
  const sizes = new Map(sql.all("payload_sizes", { keys }).map(({ key, bytes }) => [key, bytes]));
  let weight = 0;
  return candidates.filter(({ key }, index) => {
    weight += sizes.get(key) ?? 0;
    return index === 0 || weight <= CLAIM_BYTES_MAX;
  });
}

function lanesOf({ sql, names }: Session, { lanes }: ClaimRequest): number[] {
  if (lanes === "any") return sql.all("ready_lanes", {}).map((row) => row.lane);
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

/** What a decision about a job may look at. */
export function factsOf({ names }: Session, job: HeldJob): CrashFacts {
  const { tries, crashes } = job;
  const id = idFromBytes(job.id);
  return { id, type: names.text(job.type), tries, crashes, ...policyOf(job) };
}

/** The part of a job that decides about its retries. */
function policyOf(row: {
  readonly max_attempts: number;
  readonly flags: number;
}): Pick<ClaimedJob, "maxAttempts" | "onOrphan" | "retryOwner"> {
  return { maxAttempts: row.max_attempts, ...policyOfFlags(row.flags) };
}
