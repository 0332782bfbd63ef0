/** get, ends, tenantsOf, attempts, idsBetween, list and count: queries about jobs. */
import { idBytes, idFromBytes, idHex, type IdRange } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import { attemptRecord, jobEnds, jobRecord } from "../../shared/decode-jobs.ts";
import { behindGates, needsGates } from "../../shared/closed-targets.ts";
import type { MatchCount, ListFilter, Listing, Page } from "../../types/lists.ts";
import type { AttemptRecord, JobEnd, JobRecord } from "../../types/records.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { candidates } from "./list-sources.ts";
import { withIds } from "./row-ids.ts";
import type { ShownJobRow } from "../database/queries.gen.ts";
import { bounded } from "../../shared/limits.ts";
import { countChunks, PAGE_MAX, pageChunks } from "../../shared/lists/bounds.ts";
import type { Session } from "../database/session.ts";

export function get(session: Session, id: JobId): JobRecord | null {
  const row = session.sql.get("job_by_id", { id: idBytes(id) });
  return row === undefined ? null : (records(session, [row])[0] ?? null);
}

export function ends({ sql, names }: Session, ids: readonly JobId[]): JobEnd[] {
  const rows = sql.all("ends_of_jobs", { ids: JSON.stringify(ids.map(idHex)) });
  const found = rows.map((row) => {
    return { ...row, asked: idFromBytes(row.asked), id: idFromBytes(row.id) };
  });
  return jobEnds(names, ids, found);
}

export function tenantsOf(
  { sql, names }: Session,
  ids: readonly JobId[],
): readonly (string | null)[] {
  const rows = sql.all("tenants_of_ids", { ids: JSON.stringify(ids.map(idHex)) });
  const found = new Map(rows.map((row) => [idFromBytes(row.asked), names.text(row.tenant)]));
  return ids.map((id) => found.get(id) ?? null);
}

/** The jobs with these keys, in the order given. Removed jobs are left out. */
export function recordsOf(session: Session, keys: readonly JobKey[]): JobRecord[] {
  return records(session, session.sql.all("jobs_by_keys", { keys: JSON.stringify(keys) }));
}

export function attempts({ sql }: Session, id: JobId): AttemptRecord[] {
  return sql.all("attempts_of_job", { id: idBytes(id) }).map((row) => {
    const worker = row.worker === null ? null : idFromBytes(row.worker);
    return attemptRecord({ ...row, worker });
  });
}

export function idsBetween({ sql }: Session, { from, to }: IdRange, limit: number): JobId[] {
  const range = { first: idBytes(from), last: idBytes(to), limit: bounded(limit, PAGE_MAX) };
  return sql.all("ids_between", range).map(({ id }) => idFromBytes(id));
}

export function list(session: Session, filter: ListFilter, page: Page): Listing {
  const limit = bounded(page.limit, PAGE_MAX);
  const { after } = page;
  const range = { ...(after === undefined ? {} : { after }), sizes: pageChunks(limit) };
  const rows: ShownJobRow[] = [];
  let reached: JobKey | null = null;
  for (const { keys, conditions, isLast } of candidates(session, filter, range)) {
    const chunk = { keys: JSON.stringify(keys), limit: limit - rows.length, ...conditions };
    rows.push(...session.sql.all("match_jobs", chunk));
    const isFull = rows.length >= limit;
    reached = (isFull ? rows.at(-1)?.key : keys.at(-1)) ?? null;
    if (isFull) return { jobs: records(session, rows), next: reached, isCutShort: false };
    if (isLast) return { jobs: records(session, rows), next: null, isCutShort: false };
  }
  return { jobs: records(session, rows), next: reached, isCutShort: reached !== null };
}

export function count(session: Session, filter: ListFilter, max: number): MatchCount {
  const byState = countByState(session, filter, max);
  if (byState !== null) return { count: Math.min(byState, max), isExact: true };
  let found = 0;
  // Without any candidate there is no turn.
  let isExact = true;
  const sizes = countChunks(max);
  for (const { keys, conditions, isLast } of candidates(session, filter, { sizes })) {
    const chunk = { keys: JSON.stringify(keys), ...conditions };
    found += session.sql.get("count_matching", chunk)?.count ?? 0;
    if (found >= max) return { count: max, isExact: true };
    isExact = isLast;
  }
  return { count: found, isExact };
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
): Readonly<Record<"scheduled" | "retrying" | "ready" | "blocked", number>> {
  return sql.get("count_waiting", { max }) ?? { scheduled: 0, retrying: 0, ready: 0, blocked: 0 };
}

/** Rows as records of the port. */
function records(session: Session, stored: readonly ShownJobRow[]): JobRecord[] {
  const { sql, clock } = session;
  const rows = needsGates(stored)
    ? behindGates(stored, sql.all("closed_targets", { now: clock.now() }))
    : stored;
  const running = rows.filter(({ state }) => state === stateCodec.code.running);
  const starts = startsOf(
    session,
    running.map(({ key }) => key),
  );
  return rows.map((row) => recordOf(session, row, starts));
}

/** When the present runs of these jobs started. */
function startsOf({ sql }: Session, keys: readonly JobKey[]): ReadonlyMap<JobKey, number | null> {
  if (keys.length === 0) return new Map();
  const rows = sql.all("starts_of_runs", { keys: JSON.stringify(keys) });
  return new Map(rows.map(({ key, started_at: startedAt }) => [key, startedAt]));
}

function recordOf(
  session: Session,
  row: ShownJobRow,
  starts: ReadonlyMap<JobKey, number | null>,
): JobRecord {
  const hasEnded = row.state >= stateCodec.code.completed;
  const isRunning = row.state === stateCodec.code.running;
  return jobRecord(session.names, {
    ...withIds(row),
    priority: row.next_priority ?? row.priority,
    phase: row.phase,
    overall: row.overall,
    started_at: isRunning ? (starts.get(row.key) ?? null) : row.last_started_at,
    finished_at: hasEnded ? row.last_finished_at : null,
    error: row.last_error,
    is_stale: row.is_stale === 1,
    cancel_requested: row.cancel_requested === 1,
  });
}
