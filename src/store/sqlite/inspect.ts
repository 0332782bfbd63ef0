/** get, attempts, list, count and feed: reading, outside any transaction. */
import { idBytes, idFromBytes } from "../../core/ids.ts";
import type { JobId, State } from "../../core/job.ts";
import type { Fault } from "../../core/outcome.ts";
import { errorClassCodec, eventCodec, outcomeCodec, stateCodec } from "../codes.ts";
import type {
  AttemptRecord,
  FeedEntry,
  JobKey,
  JobRecord,
  ListFilter,
  Listing,
  Page,
} from "../store.ts";
import { candidateSource, correlatedId } from "./candidates.ts";
import { gateName } from "./gates.ts";
import type { JobNowRow } from "./rows.ts";
import type { Session } from "./session.ts";

/** Candidates per step of a search, and steps per page: no page looks at more than 10,000. */
const CHUNK = 500;
const CHUNKS_PER_PAGE_MAX = 20;

export function get(session: Session, id: JobId): JobRecord | null {
  const row = session.sql.get("job_by_id", { id: idBytes(id) });
  return row === undefined ? null : recordOf(session, row);
}

export function attempts({ sql }: Session, id: JobId): AttemptRecord[] {
  return sql.all("attempts_of_job", { id: idBytes(id) }).map((row) => ({
    n: row.n,
    fence: row.fence,
    worker: row.worker === null ? null : idFromBytes(row.worker),
    claimedAt: row.claimed_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    outcome: outcomeCodec.word(row.outcome),
    errorClass: row.error_class === null ? null : errorClassCodec.word(row.error_class),
    fault: faultOf(row.error),
    reason: row.reason,
    nextRunAt: row.next_run_at,
  }));
}

export function list(session: Session, filter: ListFilter, page: Page): Listing {
  const rows: JobNowRow[] = [];
  const pages = matches(session, filter, page.after ?? Number.MAX_SAFE_INTEGER);
  for (let chunk = 0; chunk < CHUNKS_PER_PAGE_MAX; chunk += 1) {
    const step = pages.next();
    if (step.done) break;
    rows.push(...step.value.rows);
    const isFull = rows.length >= page.limit;
    const isLast = chunk === CHUNKS_PER_PAGE_MAX - 1;
    if (!isFull && !isLast) continue;
    const shown = rows.slice(0, page.limit);
    const next = isFull ? (shown.at(-1)?.key ?? null) : step.value.lookedDownTo;
    return { jobs: shown.map((row) => recordOf(session, row)), next };
  }
  return { jobs: rows.map((row) => recordOf(session, row)), next: null };
}

export function count(session: Session, filter: ListFilter, max: number): number {
  let found = 0;
  for (const { rows } of matches(session, filter, Number.MAX_SAFE_INTEGER)) {
    found += rows.length;
    if (found >= max) return max;
  }
  return found;
}

/** Everything that passes the filter, newest first, chunk by chunk. */
function* matches(
  session: Session,
  filter: ListFilter,
  before: JobKey,
): Generator<{ rows: readonly JobNowRow[]; lookedDownTo: JobKey }, void> {
  const conditions = conditionsOf(session, filter);
  const next = candidateSource(session, filter);
  if (conditions === null || next === null) return;
  for (let keys = next(before, CHUNK); keys.length > 0;) {
    const rows = session.sql.all("match_jobs", { keys: JSON.stringify(keys), ...conditions });
    const lookedDownTo = keys.at(-1) ?? 0;
    yield { rows, lookedDownTo };
    keys = next(lookedDownTo, CHUNK);
  }
}

/** The filter as parameters; null when it names something that no job ever bore. */
function conditionsOf({ names }: Session, filter: ListFilter) {
  const type = filter.type === undefined ? null : names.find("type", filter.type);
  const tenant = filter.tenant === undefined ? null : names.find("tenant", filter.tenant);
  const category = filter.category === undefined ? null : names.find("category", filter.category);
  if (type === undefined || tenant === undefined || category === undefined) return null;
  const states = filter.states?.map((state: State) => stateCodec.code[state]);
  return {
    states: states === undefined ? null : JSON.stringify(states),
    type,
    tenant,
    category,
    correlation: filter.correlationId ?? null,
    correlation_id: correlatedId(filter.correlationId),
    parent: filter.parentId === undefined ? null : idBytes(filter.parentId),
    tags: JSON.stringify(filter.tags ?? {}),
  };
}

export function feed({ sql }: Session, position: number, limit: number): FeedEntry[] {
  return sql.all("feed_after", { position, limit }).map((row) => ({
    position: row.position,
    kind: eventCodec.word(row.kind),
    at: row.at,
    jobs: row.ids === null ? idsOf(sql, row.keys) : parseIds(row.ids),
  }));
}

function idsOf(sql: Session["sql"], keys: string): JobId[] {
  return sql.all("ids_of_keys", { keys }).map(({ id }) => idFromBytes(id));
}

function parseIds(json: string): JobId[] {
  const ids: JobId[] = JSON.parse(json);
  return ids;
}

/** A job as the port shows it. */
export function recordOf(session: Session, row: JobNowRow): JobRecord {
  const { names } = session;
  const id = idFromBytes(row.id);
  const state = stateCodec.word(row.state);
  const isOver = row.state >= stateCodec.code.completed;
  return {
    key: row.key,
    id,
    state,
    type: names.text(row.type),
    tenant: names.text(row.tenant),
    lane: names.text(row.lane),
    category: row.category === null ? null : names.text(row.category),
    priority: row.priority,
    payload: row.payload,
    payloadVersion: row.payload_version,
    correlationId: row.correlation ?? id,
    parentId: row.parent === null ? null : idFromBytes(row.parent),
    retryOf: row.retry_of === null ? null : idFromBytes(row.retry_of),
    concurrencyKey: row.concurrency,
    idempotencyKey: row.idempotency,
    dedupKey: row.dedup,
    webhookUrl: row.webhook,
    tags: tagsOf(row.tags),
    createdBy: row.created_by,
    createdAt: row.created_at,
    scheduledAt: row.run_at,
    runAt: row.next_run_at,
    maxAttempts: row.max_attempts,
    timeoutMs: row.timeout_ms,
    attempts: row.tries,
    crashes: row.crashes,
    startedAt: state === "running" ? startOfRun(session, row.key) : row.last_started_at,
    finishedAt: isOver ? row.last_finished_at : null,
    result: row.result,
    fault: faultOf(row.last_error),
    cancelReason: row.cancel_reason,
    heldBy: row.gate === null ? null : gateName(names.name(row.gate)),
    cancelRequested: row.cancel_requested === 1,
  };
}

function startOfRun({ sql }: Session, key: JobKey): number | null {
  return sql.get("started_at_of_running", { key })?.started_at ?? null;
}

export function tagsOf(json: string | null): Readonly<Record<string, string>> {
  const tags: Record<string, string> = json === null ? {} : JSON.parse(json);
  return tags;
}

function faultOf(json: string | null): Fault | null {
  const fault: Fault | null = json === null ? null : JSON.parse(json);
  return fault;
}
