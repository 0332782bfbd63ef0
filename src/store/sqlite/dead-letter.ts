/** The review record of a failed job, written in the transaction that fails it. */
import type { Settlement } from "../../core/outcome.ts";
import type { JobKey } from "../store.ts";
import { recordOf } from "./inspect.ts";
import type { Session } from "./session.ts";

export function insertDeadLetter(
  session: Session,
  key: JobKey,
  settlement: Settlement,
  now: number,
): void {
  if (settlement.to !== "failed") throw new Error(`job ${key} has not failed`);
  const row = session.sql.get("job_by_key", { key });
  if (row === undefined) throw new Error(`job ${key} has failed but has no row`);
  session.sql.run("insert_dead_letter", {
    id: row.id,
    type: row.type,
    tenant: row.tenant,
    error: JSON.stringify(settlement.fault),
    attempts: settlement.tries,
    died_at: now,
    spec: JSON.stringify(specOf(recordOf(session, row))),
  });
}

/** What was asked for, in words: it must make sense when every other row of the job is gone. */
function specOf(job: ReturnType<typeof recordOf>): object {
  return {
    id: job.id,
    type: job.type,
    tenant: job.tenant,
    lane: job.lane,
    category: job.category,
    priority: job.priority,
    payload: job.payload,
    payloadVersion: job.payloadVersion,
    correlationId: job.correlationId,
    parentId: job.parentId,
    retryOf: job.retryOf,
    concurrencyKey: job.concurrencyKey,
    idempotencyKey: job.idempotencyKey,
    dedupKey: job.dedupKey,
    webhookUrl: job.webhookUrl,
    onOrphan: job.onOrphan,
    retryOwner: job.retryOwner,
    tags: job.tags,
    createdBy: job.createdBy,
    createdAt: job.createdAt,
    scheduledAt: job.scheduledAt,
    maxAttempts: job.maxAttempts,
    timeoutMs: job.timeoutMs,
  };
}
