/** A final job never changes; what repeats it is a new job that is linked to it. */
import type { JobId, JsonText } from "../core/job.ts";
import type { JobRecord, NewJob } from "../store/store.ts";

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
  | "webhookUrl"
  | "tags"
  | "createdBy"
  | "onOrphan"
  | "retryOwner"
>;

export function successorOf(
  job: Repeatable,
  id: JobId,
  change: { readonly payload?: JsonText | null; readonly createdBy?: string } = {},
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
    concurrencyKey: job.concurrencyKey,
    // The key belongs to the first of them; the link says that this one repeats it.
    idempotency: null,
    dedup: null,
    webhookUrl: job.webhookUrl,
    tags: job.tags,
    createdBy: change.createdBy ?? job.createdBy,
    onOrphan: job.onOrphan,
    retryOwner: job.retryOwner,
  };
}
