/** enqueue: inserts jobs, after a check for jobs that hold the same id or key. */
import { idBytes, idFromBytes } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import { requestHash, sameBody } from "../../shared/request-hash.ts";
import { flagsOf, stateCodec } from "../../shared/codes.ts";
import { aliasesOf, noteKeyHolder, type KeyHolders } from "../../shared/key-holders.ts";
import { intakeRefusal } from "../../shared/control/intakes.ts";
import { throwIfRefused } from "../../shared/refused-child.ts";
import {
  AFTER_MAX,
  type EnqueueAnswer,
  type JobKey,
  type NewJob,
} from "../../types/jobs-and-runs.ts";
import {
  dependenciesOf,
  resolveSomeDependencies,
  putBehind,
  setDue,
} from "../queue/dependencies.ts";
import { cancelWaiting } from "./cancel.ts";
import { admission, ADMITTED, readAdmission, type Admission } from "./intakes.ts";
import { bisect } from "../batching/fallback.ts";
import type { Session } from "../database/session.ts";
import { putWaiting, takeWaiting, type WaitingJob } from "../queue/places.ts";

/**
 * Inserts a batch of a producer. One answer per job, in the order given. The children of a run do
 * not come this way: a worker of an older release must be able to end its runs.
 */
export function enqueue(session: Session, jobs: readonly NewJob[]): readonly EnqueueAnswer[] {
  const call = { keyHolders: new Map<JobId, JobId>(), ...admission(session, jobs) };
  const answers = enqueueAll(session, jobs, call);
  resolveNew(session, jobs);
  return answers;
}

/** The same with bisection: if the database refuses a value, only that job is refused. */
export function enqueueParts(session: Session, jobs: readonly NewJob[]): readonly EnqueueAnswer[] {
  return enqueueBisecting(session, jobs, admission(session, jobs));
}

/** Inserts jobs inside another verb's transaction, in spite of closed intakes and quotas. */
export function enqueueWithin(session: Session, jobs: readonly NewJob[]): readonly EnqueueAnswer[] {
  return enqueueBisecting(session, jobs, ADMITTED);
}

/**
 * Inserts jobs of a schedule. If the intake is closed, or the quota has no room for the first job,
 * no job is made and `beforeFirst` is not called.
 */
export function enqueueScheduled(
  session: Session,
  jobs: readonly NewJob[],
  beforeFirst: () => void,
): readonly EnqueueAnswer[] {
  const [first] = jobs;
  if (first === undefined) return [];
  const { admitted } = readAdmission(session, jobs);
  const nameIds = internNames(session, first);
  const refused =
    intakeRefusal(first, nameIds, admitted.closed) ??
    admitted.quotas.refusal(first, nameIds.tenant);
  if (refused !== null) return jobs.map(() => refused);
  beforeFirst();
  return enqueueBisecting(session, jobs, admitted);
}

function enqueueBisecting(
  session: Session,
  jobs: readonly NewJob[],
  admitted: Admission,
): readonly EnqueueAnswer[] {
  const call = { keyHolders: new Map<JobId, JobId>(), ...admitted };
  const work = (part: readonly NewJob[]): EnqueueAnswer[] => enqueueAll(session, part, call);
  const answers = bisect(session, jobs, work, refusal);
  resolveNew(session, jobs);
  return answers;
}

/**
 * Enqueues the children of notes or settlements. Throws if one is refused. A note is repeated after
 * a lost answer: a child that has given way stays away, even if its key is free by now.
 */
export function enqueueChildren(session: Session, all: readonly NewJob[]): void {
  const children = all.filter((child) => !hasGivenWay(session, child));
  const answers = enqueueWithin(session, children);
  throwIfRefused(children, answers);
  for (const { id, holder, parent } of aliasesOf(children, answers)) {
    session.sql.run("insert_alias", {
      id: idBytes(id),
      holder: idBytes(holder),
      parent: idBytes(parent),
    });
  }
}

function hasGivenWay({ sql }: Session, { id, dedup, idempotency }: NewJob): boolean {
  const hasKey = dedup !== null || idempotency !== null;
  return hasKey && sql.get("find_alias", { id: idBytes(id) }) !== undefined;
}

/** What the jobs of one call share. */
interface Call extends Admission {
  readonly keyHolders: Map<JobId, JobId>;
}

/** Inserts jobs in order, because a job may depend on a key holder of an earlier job. */
function enqueueAll(session: Session, jobs: readonly NewJob[], call: Call): EnqueueAnswer[] {
  return jobs.map((job) => {
    const answer = enqueueOne(session, job, call);
    noteKeyHolder(call.keyHolders, job.id, answer);
    return answer;
  });
}

/** Resolves dependencies that are final already. */
function resolveNew(session: Session, jobs: readonly NewJob[]): void {
  if (jobs.some(({ after }) => after.length > 0)) resolveSomeDependencies(session);
}

/** The answer to a job with a value that the database refuses. */
function refusal(job: NewJob): EnqueueAnswer {
  return { status: "refused", code: "STORE_REFUSED", holder: job.id };
}

/** The ids of a job's interned names. */
interface NameIds {
  readonly type: number;
  readonly tenant: number;
  readonly lane: number;
  readonly category: number | null;
}

function enqueueOne(session: Session, job: NewJob, call: Call): EnqueueAnswer {
  const nameIds = internNames(session, job);
  const dependencies =
    intakeRefusal(job, nameIds, call.closed) ??
    call.quotas.refusal(job, nameIds.tenant) ??
    dependenciesFor(session, job, call.keyHolders);
  const held = findHolder(session, job, nameIds, dependencies);
  if (held !== null) return held;
  if ("status" in dependencies) return dependencies;

  const now = session.clock.now();
  const runAt = dueAt(job, now);
  const key = insertJob(session, job, nameIds, runAt, now);
  if (key === null) return repeated(session, job, nameIds);

  call.quotas.made(job, nameIds.tenant);
  insertKeys(session, job, nameIds, key);
  if (job.retryOf !== null && job.ignoreCheckpoints !== true) takeOverCheckpoints(session, key);
  for (const [name, value] of Object.entries(job.tags)) {
    session.sql.run("insert_tag", { name, value, key });
  }
  const first = firstRun(job, nameIds, key);
  // A job that waits for dependencies is queued, whatever its due time.
  const waits = dependencies.size > 0;
  if (waits) putBehind(session, first, dependencies, { onFailed: job.onFailed, runAt });
  const state = waits ? "queued" : putWaiting(session, first, runAt, now);
  session.outbox.add({ kind: "job:enqueued", jobs: [key] });
  return { status: "created", id: job.id, state };
}

/** The dependencies of a job, or why the job is refused unless it exists already. */
type Dependencies = ReturnType<typeof dependenciesOf>;

function dependenciesFor(session: Session, job: NewJob, keyHolders: KeyHolders): Dependencies {
  return job.after.length > AFTER_MAX ? refusal(job) : dependenciesOf(session, job, keyHolders);
}

/**
 * The answer if another job holds the id or a key of the new job, else null. The id is checked
 * first, because a repeat of the same job is no duplicate by key.
 */
function findHolder(
  session: Session,
  job: NewJob,
  nameIds: NameIds,
  dependencies: Dependencies,
): EnqueueAnswer | null {
  const isFree = job.idempotency === null && job.dedup === null && job.retryOf === null;
  if (isFree && job.after.length === 0 && !("status" in dependencies)) return null;
  if (session.sql.get("find_body", { id: idBytes(job.id) }) !== undefined) {
    return repeated(session, job, nameIds);
  }
  return (
    idempotencyHolder(session, job, nameIds) ??
    livingSuccessor(session, job) ??
    dedupHolder(session, job, nameIds, dependencies)
  );
}

function internNames({ names }: Session, job: NewJob): NameIds {
  return {
    type: names.id("type", job.type),
    tenant: names.id("tenant", job.tenant),
    lane: names.id("lane", job.lane),
    category: job.category === null ? null : names.id("category", job.category),
  };
}

function dueAt(job: NewJob, now: number): number {
  return Math.round("at" in job.due ? Math.max(0, job.due.at) : now + job.due.delayMs);
}

/** Answers the new key, or null if the id exists already. */
function insertJob(
  { sql }: Session,
  job: NewJob,
  nameIds: NameIds,
  runAt: number,
  now: number,
): JobKey | null {
  const tags = Object.keys(job.tags).length > 0 ? JSON.stringify(job.tags) : null;
  const { changes, lastKey } = sql.run("insert_job", {
    id: idBytes(job.id),
    type: nameIds.type,
    tenant: nameIds.tenant,
    lane: nameIds.lane,
    category: nameIds.category,
    priority: job.priority,
    run_at: runAt,
    max_attempts: job.maxAttempts,
    timeout_ms: job.timeoutMs,
    payload: job.payload,
    payload_version: job.payloadVersion,
    correlation: job.correlationId,
    parent: job.parentId === null ? null : idBytes(job.parentId),
    retry_of: job.retryOf === null ? null : idBytes(job.retryOf),
    concurrency: job.concurrencyKey,
    idempotency: job.idempotency?.key ?? null,
    dedup: job.dedup?.key ?? null,
    webhook: job.webhookUrl,
    tags,
    created_by: job.createdBy,
    created_at: now,
    flags: flagsOf(job),
  });
  return changes === 0 ? null : lastKey;
}

function insertKeys({ sql }: Session, job: NewJob, nameIds: NameIds, key: JobKey): void {
  const { tenant, type } = nameIds;
  if (job.idempotency !== null) {
    sql.run("insert_idempotency", {
      tenant,
      key: job.idempotency.key,
      job_id: idBytes(job.id),
      body: requestHash(job),
    });
  }
  if (job.dedup !== null) sql.run("insert_dedup", { tenant, type, key: job.dedup.key, job: key });
}

/** A successor starts with the checkpoints of the job that it repeats. */
function takeOverCheckpoints({ sql }: Session, key: JobKey): void {
  sql.run("take_over_phases", { key });
  sql.run("take_over_units", { key });
}

/** The same id again: a repeat after a lost answer, or a conflict of two callers. */
function repeated({ sql }: Session, job: NewJob, nameIds: NameIds): EnqueueAnswer {
  const body = sql.get("find_body", { id: idBytes(job.id) });
  const isSame =
    body !== undefined &&
    body.type === nameIds.type &&
    body.tenant === nameIds.tenant &&
    sameBody(body.payload, job.payload);
  if (!isSame) return { status: "refused", code: "ID_CONFLICT", holder: job.id };
  const row = sql.get("job_by_key", { key: body.key });
  const state = row === undefined ? null : stateCodec.word(row.state);
  return { status: "existing", id: job.id, state, by: "id" };
}

function idempotencyHolder(
  { sql }: Session,
  job: NewJob,
  { tenant }: NameIds,
): EnqueueAnswer | null {
  if (job.idempotency === null) return null;
  const { key, onConflict } = job.idempotency;
  const row = sql.get("find_idempotency", { tenant, key });
  if (row === undefined) return null;

  const first = idFromBytes(row.job_id);
  if (!Buffer.from(row.body).equals(requestHash(job))) {
    return { status: "refused", code: "IDEMPOTENCY_CONFLICT", holder: first };
  }
  if (onConflict === "error")
    return { status: "refused", code: "IDEMPOTENCY_KEY_USED", holder: first };
  const now = sql.get("job_by_id", { id: row.job_id });
  const state = now === undefined ? null : stateCodec.word(now.state);
  return { status: "existing", id: first, state, by: "idempotency" };
}

/** Another successor of the same job that is not final. */
function livingSuccessor({ sql }: Session, { retryOf }: NewJob): EnqueueAnswer | null {
  if (retryOf === null) return null;
  const row = sql.get("find_successor", { retry_of: idBytes(retryOf) });
  if (row === undefined) return null;
  const now = sql.get("job_by_key", { key: row.key });
  const state = now === undefined ? null : stateCodec.word(now.state);
  return { status: "existing", id: idFromBytes(row.id), state, by: "successor" };
}

function dedupHolder(
  session: Session,
  job: NewJob,
  { tenant, type }: NameIds,
  dependencies: Dependencies,
): EnqueueAnswer | null {
  if (job.dedup === null) return null;
  const { sql, clock } = session;
  const row = sql.get("find_dedup", { tenant, type, key: job.dedup.key });
  if (row === undefined) return null;
  if (row.id === null) {
    freeDedup(session, row.key);
    return null;
  }

  if (job.dedup.onConflict === "replace" && isWaiting(session, row.key)) {
    if ("status" in dependencies) return dependencies;
    const reason = `replaced by ${job.id} under the dedup key ${job.dedup.key}`;
    if (cancelWaiting(session, row.key, reason)) return null;
  }
  if (job.dedup.onConflict === "extend") {
    const now = clock.now();
    const runAt = dueAt(job, now);
    const waiting = setDue(session, row.key, runAt) ? undefined : takeWaiting(session, row.key);
    if (waiting !== undefined) putWaiting(session, waiting, runAt, now);
  }
  const now = sql.get("job_by_key", { key: row.key });
  const state = now === undefined ? null : stateCodec.word(now.state);
  return { status: "existing", id: idFromBytes(row.id), state, by: "dedup" };
}

/** Frees the dedup key of a job without a row, which never ends and never frees the key itself. */
function freeDedup({ sql, warnings }: Session, key: JobKey): void {
  sql.run("delete_dedup", { keys: JSON.stringify([key]) });
  warnings.reportFreedKeys([key]);
}

function isWaiting({ sql }: Session, key: JobKey): boolean {
  const row = sql.get("job_by_key", { key });
  return row !== undefined && row.state <= stateCodec.code.queued;
}

function firstRun(job: NewJob, { lane, type, tenant }: NameIds, key: JobKey): WaitingJob {
  const { priority, concurrencyKey: concurrency } = job;
  return { key, rank: 0, lane, priority, type, tenant, concurrency, n: 1, tries: 0, crashes: 0 };
}
