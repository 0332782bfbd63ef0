/** A final job never changes; what repeats it is a new job that is linked to it. */
import { MillraceError } from "../core/errors.ts";
import type { JobId, JsonText } from "../core/job.ts";
import type { Enqueued } from "../api/enqueue.ts";
import type { EnqueueAnswer, NewJob } from "../store/types/jobs-and-runs.ts";
import type { JobRecord } from "../store/types/records.ts";

/** What there is to repeat: a job, or the copy that a dead letter keeps of one. */
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
    readonly payload?: JsonText | null;
    readonly createdBy?: string;
    /** It does again also what the job has completed. */
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
    payload: change.payload === undefined ? job.payload : change.payload,
    payloadVersion: job.payloadVersion,
    correlationId: job.correlationId,
    parentId: job.parentId,
    retryOf: job.id,
    ignoreCheckpoints: change.restart === true,
    concurrencyKey: job.concurrencyKey,
    // A repeat waits for nobody.
    after: [],
    onFailed: "cancel",
    // The key belongs to the first of them; the link says that this one repeats it.
    idempotency: null,
    dedup: job.dedupKey === null ? null : { key: job.dedupKey, onConflict: "skip" },
    webhookUrl: job.webhookUrl,
    tags: job.tags,
    createdBy: change.createdBy ?? job.createdBy,
    onOrphan: job.onOrphan,
    retryOwner: job.retryOwner,
  };
}

/** What came of asking for a successor. `created` is false when one lives already. */
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

/** Another job does that work meanwhile: a second one is not made, and the caller is told so. */
function keyIsHeld({ id, dedupKey }: Repeatable, holder: JobId): MillraceError {
  const message = `job ${id} is not repeated: ${holder} holds its dedup key "${dedupKey}"`;
  return new MillraceError("DEDUP_KEY_HELD", message, { details: { id, holder } });
}
