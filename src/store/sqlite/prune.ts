/** prune: what has outlived its retention goes, oldest first, in bounded batches. */
import { idFromBytes } from "../../core/ids.ts";
import { STATES, isFinal } from "../../core/job.ts";
import { stateCodec } from "../codes.ts";
import type { Pruned, Retention } from "../store.ts";
import type { FinishedRow } from "./rows.ts";
import { bounded } from "../limits.ts";
import type { Session } from "./session.ts";

/** Jobs removed in one transaction: more would let the log grow and hold up the loop. */
const PRUNE_MAX = 500;
/** Units removed in one transaction, for the same reason. Their jobs go when they are gone. */
const UNITS_PRUNED_MAX = 10_000;
/** Further than any instant reaches. */
const NEVER = 9_000_000_000_000;

export function prune(session: Session, retention: Retention, wanted: number): Pruned {
  const { sql, clock } = session;
  const limit = bounded(wanted, PRUNE_MAX);
  const now = clock.now();
  const outlived = findOutlived(session, retention, limit, now);
  const isCrowded = deleteUnits(session, outlived);
  const jobs = isCrowded ? [] : outlived;
  deleteJobs(session, jobs, retention);
  const idempotencyKeys = sql.run("delete_expired_idempotency", { now, limit }).changes;
  const deadLetters = sql.run("delete_dead_letters", {
    before: now - retention.deadLetterMs,
    limit,
  }).changes;
  const events = sql.run("delete_events", { before: now - retention.eventMs, limit }).changes;
  const more = isCrowded || [jobs.length, idempotencyKeys, deadLetters, events].includes(limit);
  return { jobs: jobs.length, deadLetters, idempotencyKeys, events, more };
}

function findOutlived(
  { sql }: Session,
  retention: Retention,
  limit: number,
  now: number,
): FinishedRow[] {
  return STATES.filter(isFinal)
    .flatMap((state) =>
      sql.all("finished_before", {
        state: stateCodec.code[state],
        before: now - retention.finishedMs[state],
        limit,
      }),
    )
    .toSorted((left, right) => left.finished_at - right.finished_at)
    .slice(0, limit);
}

/** Answers whether there may be more of them. */
function deleteUnits({ sql }: Session, jobs: readonly FinishedRow[]): boolean {
  if (jobs.length === 0) return false;
  const keys = JSON.stringify(jobs.map(({ key }) => key));
  return sql.run("delete_units", { keys, limit: UNITS_PRUNED_MAX }).changes === UNITS_PRUNED_MAX;
}

function deleteJobs(session: Session, jobs: readonly FinishedRow[], retention: Retention): void {
  if (jobs.length === 0) return;
  const { sql, tidings } = session;
  for (const job of jobs) {
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
  sql.run("delete_attempts", { keys });
  sql.run("delete_jobs", { keys });
  tidings.tell({ kind: "job:deleted", jobs: jobs.map(({ id }) => idFromBytes(id)) });
}
