/** Repeats a final job as a new job, its successor. The final job does not change. */
import { MillraceError } from "../core/errors.ts";
import type { JobId } from "../core/job.ts";
import type { Enqueued } from "../api/enqueue.ts";
import type { EnqueueAnswer, NewJob } from "../store/types/jobs-and-runs.ts";
import type { JobRecord } from "../store/types/records.ts";

/** What a successor needs: a job, or the copy of a job in a dead letter. */
export type Repeatable = Pick<
  JobRecord,
  | "id"
  | "type"
  | "tenant"
  | "lane"
  | "category"
  | "priority"
  | "maxAttempts"
  | "timeoutMs"
  | "payload"
  | "payloadVersion"
  | "correlationId"
  | "parentId"
  | "concurrencyKey"
  | "dedupKey"
  | "webhookUrl"
  | "tags"
  | "createdBy"
  | "onOrphan"
  | "retryOwner"
>;

export function successorOf(
  job: Repeatable,
  id: JobId,
  change: {
    readonly createdBy?: string;
    /** The successor keeps no checkpoints. */
    readonly restart?: boolean;
  } = {},
): NewJob {
  return {
    id,
    type: job.type,
    tenant: job.tenant,
    lane: job.lane,
    category: job.category,
    priority: job.priority,
    due: { delayMs: 0 },
    maxAttempts: job.maxAttempts,
    timeoutMs: job.timeoutMs,
    payload: job.payload,
    payloadVersion: job.payloadVersion,
    correlationId: job.correlationId,
    parentId: job.parentId,
    retryOf: job.id,
    ignoreCheckpoints: change.restart === true,
    concurrencyKey: job.concurrencyKey,
    // A successor has no dependencies.
    after: [],
    onFailed: "cancel",
    // The key belongs to the first job; `retryOf` links the successor to it.
    idempotency: null,
    dedup: job.dedupKey === null ? null : { key: job.dedupKey, onConflict: "skip" },
    webhookUrl: job.webhookUrl,
    tags: job.tags,
    createdBy: change.createdBy ?? job.createdBy,
    onOrphan: job.onOrphan,
    retryOwner: job.retryOwner,
  };
}

/** The result of a retry. `created` is false if a successor already exists. */
export function successorAnswer(job: Repeatable, answer: EnqueueAnswer): Enqueued<unknown> {
  if (answer.status === "refused") {
    throw new MillraceError("STORE_REFUSED", `the successor of ${job.id} was refused`, {
      details: { id: job.id, code: answer.code },
    });
  }
  if (answer.status === "existing" && answer.by === "dedup") throw keyIsHeld(job, answer.id);
  const { id, state } = answer;
  return { id, type: job.type, state, created: answer.status === "created" };
}

/** Another job holds the dedup key, so no successor is made. */
function keyIsHeld({ id, dedupKey }: Repeatable, holder: JobId): MillraceError {
  const message = `job ${id} is not repeated: ${holder} holds its dedup key "${dedupKey}"`;
  return new MillraceError("DEDUP_KEY_HELD", message, { details: { id, holder } });
}
