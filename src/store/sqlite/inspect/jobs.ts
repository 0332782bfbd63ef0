/** get, attempts, list and count: queries about jobs. */
import { idBytes, idFromBytes, idHex } from "../../../core/ids.ts";
import type { JobId, State } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import { attemptRecord, jobEnds, jobRecord, type StoredJob } from "../../shared/decode-jobs.ts";
import type {
  AttemptRecord,
  JobEnd,
  JobRecord,
  ListFilter,
  Listing,
  Page,
} from "../../types/records.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { candidateSource, correlatedId } from "./list-sources.ts";
import type { JobNowRow, ShownJobRow } from "../database/queries.gen.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session } from "../database/session.ts";

/** Candidates per chunk, and chunks per page: no page scans more than 10,000 candidates. */
const CHUNK = 500;
const CHUNKS_PER_PAGE_MAX = 20;
const PAGE_MAX = 1_000;

export function get(session: Session, id: JobId): JobRecord | null {
  const row = session.sql.get("job_by_id", { id: idBytes(id) });
  return row === undefined ? null : recordOf(session, row);
}

export function ends({ sql, names }: Session, ids: readonly JobId[]): JobEnd[] {
  const rows = sql.all("ends_of_jobs", { ids: JSON.stringify(ids.map(idHex)) });
  const found = rows.map((row) => {
    return { ...row, asked: idFromBytes(row.asked), id: idFromBytes(row.id) };
  });
  return jobEnds(names, ids, found);
}

/** The jobs with these keys, in the order given. Removed jobs are left out. */
export function recordsOf(session: Session, keys: readonly JobKey[]): JobRecord[] {
  const rows = session.sql.all("jobs_by_keys", { keys: JSON.stringify(keys) });
  return rows.map((row) => recordOf(session, row));
}

export function attempts({ sql }: Session, id: JobId): AttemptRecord[] {
  return sql.all("attempts_of_job", { id: idBytes(id) }).map((row) => {
    const worker = row.worker === null ? null : idFromBytes(row.worker);
    return attemptRecord({ ...row, worker });
  });
}

export function list(session: Session, filter: ListFilter, page: Page): Listing {
  const limit = bounded(page.limit, PAGE_MAX);
  const rows: ShownJobRow[] = [];
  let chunks = 0;
  for (const { keys, conditions } of candidates(session, filter, page.after)) {
    rows.push(...session.sql.all("match_jobs", { keys: JSON.stringify(keys), ...conditions }));
    chunks += 1;
    const isFull = rows.length >= limit;
    if (!isFull && chunks < CHUNKS_PER_PAGE_MAX) continue;
    const shown = rows.slice(0, limit);
    const next = isFull ? shown.at(-1)?.key : keys.at(-1);
    return { jobs: shown.map((row) => recordOf(session, row)), next: next ?? null };
  }
  return { jobs: rows.map((row) => recordOf(session, row)), next: null };
}

export function count(session: Session, filter: ListFilter, max: number): number {
  const byState = countByState(session, filter, max);
  if (byState !== null) return Math.min(byState, max);
  let found = 0;
  for (const { keys, conditions } of candidates(session, filter)) {
    const chunk = { keys: JSON.stringify(keys), ...conditions };
    found += session.sql.get("count_matching", chunk)?.count ?? 0;
    if (found >= max) return max;
  }
  return found;
}

/** Counts by state alone, which is the usual case and has an index per state. */
function countByState({ sql }: Session, filter: ListFilter, max: number): number | null {
  const { states, ...others } = filter;
  if (states === undefined || Object.keys(others).length > 0) return null;
  if (states.includes("running")) return null;
  const { scheduled, ready, blocked } = countWaiting({ sql }, max);
  return [...new Set(states)].reduce((sum, state) => {
    if (state === "scheduled") return sum + scheduled;
    if (state === "queued") return sum + ready + blocked;
    return sum + (sql.get("count_ended", { state: stateCodec.code[state], max })?.count ?? 0);
  }, 0);
}

/** The number of jobs in each waiting place, up to `max` each. */
export function countWaiting(
  { sql }: Pick<Session, "sql">,
  max: number,
): { readonly scheduled: number; readonly ready: number; readonly blocked: number } {
  return sql.get("count_waiting", { max }) ?? { scheduled: 0, ready: 0, blocked: 0 };
}

/** Chunks of candidates, newest first, with the conditions to check. */
function* candidates(
  session: Session,
  filter: ListFilter,
  after: JobKey = Number.MAX_SAFE_INTEGER,
): Generator<{ keys: readonly JobKey[]; conditions: Conditions }, void> {
  const conditions = conditionsOf(session, filter);
  const next = candidateSource(session, filter);
  if (conditions === null || next === null) return;
  for (let keys = next(after, CHUNK); keys.length > 0; keys = next(keys.at(-1) ?? 0, CHUNK)) {
    yield { keys, conditions };
  }
}

type Conditions = NonNullable<ReturnType<typeof conditionsOf>>;

/** The filter as parameters; null if it has a name that no job ever had. */
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

type WithIds = Omit<JobNowRow, "id" | "parent" | "retry_of"> &
  Pick<StoredJob, "id" | "parent" | "retry_of">;

/** A row with ids as text. */
export function withIds(row: JobNowRow): WithIds {
  return {
    ...row,
    id: idFromBytes(row.id),
    parent: row.parent === null ? null : idFromBytes(row.parent),
    retry_of: row.retry_of === null ? null : idFromBytes(row.retry_of),
  };
}

/** A row as a record of the port. */
function recordOf(session: Session, row: ShownJobRow): JobRecord {
  const state = stateCodec.word(row.state);
  const hasEnded = row.state >= stateCodec.code.completed;
  return jobRecord(session.names, {
    ...withIds(row),
    phase: row.phase,
    overall: row.overall,
    started_at: state === "running" ? startOfRun(session, row.key) : row.last_started_at,
    finished_at: hasEnded ? row.last_finished_at : null,
    error: row.last_error,
    is_stale: row.is_stale === 1,
    cancel_requested: row.cancel_requested === 1,
  });
}

function startOfRun({ sql }: Session, key: JobKey): number | null {
  return sql.get("start_of_run", { key })?.started_at ?? null;
}
