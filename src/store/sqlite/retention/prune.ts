/** prune, markStale and remove: deletes expired rows in bounded batches. */
import { idFromBytes } from "../../../core/ids.ts";
import { OPERATION_KEPT_MS } from "../../types/operations.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { Pruned, Retention } from "../../types/records.ts";
import { findExpired } from "./expired.ts";
import type { FinishedRow } from "../database/queries.gen.ts";
import { deletedDetail } from "../../shared/decode-jobs.ts";
import { longestPeriods } from "../../shared/declared-periods.ts";
import { bounded, ENDED_TOKEN_MS } from "../../shared/limits.ts";
import { pruneAudits } from "../audit/seal.ts";
import type { Session } from "../database/session.ts";

/** The maximum of jobs deleted in one transaction: bounds the WAL and the blocked time. */
const PRUNE_MAX = 500;
/** The same for units and log lines, which are deleted before their jobs. */
const PARTS_PRUNED_MAX = 10_000;
/** Later than every instant. */
const NEVER = 9_000_000_000_000;

export function prune(session: Session, asked: Retention, wanted: number): Pruned {
  const { sql, clock } = session;
  const retention = longest(session, asked);
  const limit = bounded(wanted, PRUNE_MAX);
  const now = clock.now();
  const expired = findExpired(session, retention, limit);
  const { jobs, isCrowded } = removeJobs(session, expired.jobs, retention);
  const idempotencyKeys = sql.run("delete_expired_idempotency", { now, limit }).changes;
  const deadLetters = sql.run("delete_dead_letters", {
    before: now - retention.deadLetterMs,
    limit,
  }).changes;
  const events = sql.run("delete_events", { before: now - retention.eventMs, limit }).changes;
  const tokens = sql.run("delete_tokens", { now, before: now - ENDED_TOKEN_MS, limit }).changes;
  const minutes = sql.run("delete_minutes", { before: now - retention.minutesMs, limit }).changes;
  const deploys = sql.run("delete_deploys", { age: retention.minutesMs, now, limit }).changes;
  const before = now - retention.eventMs;
  const changes = sql.run("delete_breaker_changes", { before, limit }).changes;
  const audits = pruneAudits(session, retention.auditMs, limit);
  const ended = { age: OPERATION_KEPT_MS, now, limit };
  const items = sql.run("delete_operation_items", ended).changes;
  sql.run("delete_operations", ended);
  const decisions = sql.run("delete_failure_groups", {
    before: now - retention.deadLetterMs,
    limit,
  }).changes;
  const records = [idempotencyKeys, deadLetters, events, tokens, minutes, deploys];
  const counts = [jobs, ...records, changes, audits, items, decisions];
  const isFull = counts.includes(limit);
  const more = isCrowded || expired.isCut || isFull;
  return { jobs, deadLetters, idempotencyKeys, events, tokens, minutes, audits, more };
}

/** The periods that hold for every caller: see {@link longestPeriods}. */
function longest({ sql, clock }: Session, asked: Retention): Retention {
  const stored = sql.get("declared_periods", {})?.value;
  const { retention, changed } = longestPeriods(asked, stored, clock.now());
  if (changed !== null) sql.run("put_declared_periods", { value: changed });
  return retention;
}

/** Deletes the given jobs that can be removed. `more`: some of them are left. */
export function remove(
  session: Session,
  keys: readonly JobKey[],
  asked: Retention,
): { readonly jobs: number; readonly more: boolean } {
  const retention = longest(session, asked);
  const found = session.sql.all("removable_jobs", { keys: JSON.stringify(keys) });
  const { jobs, isCrowded } = removeJobs(session, found.slice(0, PRUNE_MAX), retention);
  return { jobs, more: isCrowded || found.length > PRUNE_MAX };
}

/**
 * The same for an operator. Answers the jobs that were removed; null: only parts of them were
 * deleted, and the same call has to follow.
 */
export function removeNamed(
  session: Session,
  keys: readonly JobKey[],
  retention: Pick<Retention, "idempotencyMs">,
): readonly FinishedRow[] | null {
  const found = session.sql.all("removable_jobs", { keys: JSON.stringify(keys) });
  const { isCrowded } = removeJobs(session, found, retention);
  return isCrowded ? null : found;
}

export function markStale({ sql, clock, outbox }: Session, keys: readonly JobKey[]): number {
  const marked = sql.all("insert_stale", { keys: JSON.stringify(keys), at: clock.now() });
  outbox.add({ kind: "job:stale", jobs: marked.map(({ key }) => key) });
  return marked.length;
}

/** `isCrowded`: only units and log lines were deleted; the jobs follow in the next call. */
export function removeJobs(
  session: Session,
  jobs: readonly FinishedRow[],
  retention: Pick<Retention, "idempotencyMs">,
): { readonly jobs: number; readonly isCrowded: boolean } {
  if (jobs.length === 0) return { jobs: 0, isCrowded: false };
  if (deleteParts(session, jobs)) return { jobs: 0, isCrowded: true };
  deleteJobs(session, jobs, retention);
  return { jobs: jobs.length, isCrowded: false };
}

/** Deletes units and log lines. Answers whether there may be more. */
function deleteParts({ sql }: Session, jobs: readonly FinishedRow[]): boolean {
  const keys = JSON.stringify(jobs.map(({ key }) => key));
  const units = sql.run("delete_units", { keys, limit: PARTS_PRUNED_MAX }).changes;
  const room = PARTS_PRUNED_MAX - units;
  return room === 0 || sql.run("delete_logs", { keys, limit: room }).changes === room;
}

function deleteJobs(
  session: Session,
  jobs: readonly FinishedRow[],
  retention: Pick<Retention, "idempotencyMs">,
): void {
  const { sql, outbox, names, state } = session;
  for (const job of jobs) {
    state.ownEvents.forget(job.key);
    if (job.tags !== null) sql.run("delete_tags", { key: job.key, tags: job.tags });
    if (job.idempotency === null) continue;
    sql.run("expire_idempotency", {
      tenant: job.tenant,
      key: job.idempotency,
      job_id: job.id,
      expires_at: Math.min(job.finished_at + retention.idempotencyMs, NEVER),
    });
  }
  const keys = JSON.stringify(jobs.map(({ key }) => key));
  sql.run("delete_runs", { keys });
  sql.run("delete_phases", { keys });
  sql.run("delete_stale", { keys });
  sql.run("delete_aliases", { keys });
  sql.run("delete_dependencies", { keys });
  sql.run("delete_attempts", { keys });
  sql.run("delete_jobs", { keys });
  const gone = jobs.map((job) => ({ ...job, id: idFromBytes(job.id) }));
  const details = gone.map((job) => deletedDetail(names, job));
  outbox.add({ kind: "job:deleted", jobs: gone.map(({ id }) => id), details });
}
