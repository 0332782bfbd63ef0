/** `JobQueue`: the jobs of one firm, in the firm's own words. */
import type { JobCategory, JobFilter, JobView, Json, State, TenantMillrace } from "millrace";
import { categoryOf, PAYLOAD_VERSION, PRIORITY } from "./categories.ts";
import { jobOfType } from "./jobs.ts";
import { PayloadValidator, type FirmPayload } from "./payload-validator.ts";
import { uuidOf } from "./public-id.ts";

/** What a caller asks for. */
export interface NewFirmJob {
  readonly category: JobCategory;
  readonly job_type: string;
  readonly payload: FirmPayload;
  readonly idempotency_key: string;
  readonly correlation_id: string;
  readonly payload_version?: string;
  /** The lower number runs first; 2 is normal. */
  readonly priority?: number;
  readonly scheduled_at?: Date;
  readonly max_attempts?: number;
}

export type QueueStatus = "pending" | "processing" | "completed" | "failed" | "cancelled";

/** A row of the queue, with the names of the firm's columns. */
export interface QueueRow {
  readonly job_id: string;
  readonly firm: number;
  readonly category: string | null;
  readonly job_type: string;
  readonly payload_version: string;
  readonly payload: Json;
  readonly idempotency_key: string | null;
  readonly correlation_id: string;
  readonly priority: number;
  readonly status: QueueStatus;
  readonly scheduled_at: string;
  readonly attempt_count: number;
  readonly max_attempts: number;
  readonly error_class: string | null;
  readonly error_message: string | null;
  readonly result: Json;
  readonly created_at: string;
}

/** A payload that breaks the firm's rules, or a job type that does not exist. */
export class ValidationError extends Error {
  override readonly name = "ValidationError";
}

export const MESSAGE_LENGTH_MAX = 500;

/** Our state names, by the firm's. */
export const STATES_OF = {
  pending: ["scheduled", "queued"],
  processing: ["running"],
  completed: ["completed", "completed_with_errors"],
  failed: ["failed"],
  cancelled: ["cancelled"],
} as const satisfies Record<QueueStatus, readonly State[]>;

/**
 * Creates a job of a firm. `clean` tells every fault with the words of the validator; `enqueue`
 * applies the rules of the preset again, so that no other way into the store passes them by.
 */
export async function createJob(firm: TenantMillrace, job: NewFirmJob): Promise<QueueRow> {
  clean(job);
  const contract = jobOfType(job.job_type)!;
  const { id } = await firm.enqueue(contract, job.payload, {
    idempotencyKey: job.idempotency_key,
    correlationId: job.correlation_id,
    priority: job.priority ?? PRIORITY.normal,
    payloadVersion: job.payload_version ?? PAYLOAD_VERSION,
    ...(job.scheduled_at && { runAt: job.scheduled_at }),
    ...(job.max_attempts === undefined ? {} : { maxAttempts: job.max_attempts }),
  });
  return rowOf(await firm.jobs.get(id));
}

function clean({ category, job_type: type, payload }: NewFirmJob): void {
  const [, faults] = PayloadValidator.validate_payload({ payload, category });
  const belongs = categoryOf(type) === category;
  const errors = belongs ? faults : [...faults, `${category} has no job type ${type}`];
  if (errors.length > 0) throw new ValidationError(`Invalid payload: ${errors.join("; ")}`);
}

function rowOf(job: JobView): QueueRow {
  return {
    job_id: uuidOf(job.id),
    firm: Number(job.tenant),
    category: job.category,
    job_type: job.type,
    payload_version: job.payloadVersion ?? PAYLOAD_VERSION,
    payload: job.payload,
    idempotency_key: job.idempotencyKey,
    correlation_id: job.correlationId,
    priority: job.priority,
    status: statusOf(job),
    scheduled_at: job.scheduledAt.toISOString(),
    attempt_count: job.attempts,
    max_attempts: job.maxAttempts,
    error_class: job.error?.class ?? null,
    error_message: job.error?.message.slice(0, MESSAGE_LENGTH_MAX) ?? null,
    result: job.result,
    created_at: job.createdAt.toISOString(),
  };
}

export function statusOf({ state }: JobView): QueueStatus {
  switch (state) {
    case "scheduled":
    case "queued":
      return "pending";
    case "running":
      return "processing";
    case "completed":
    case "completed_with_errors":
      return "completed";
    case "failed":
    case "cancelled":
      return state;
  }
}

export interface QueuePage {
  readonly jobs: readonly QueueRow[];
  readonly total_count: number;
  /** Where the next page starts; null on the last one. */
  readonly next: string | null;
}

/** The jobs of a filter, newest first, and how many there are. */
export async function listJobs(firm: TenantMillrace, filter: JobFilter): Promise<QueuePage> {
  const { after: _after, limit: _limit, ...counted } = filter;
  const [page, { count }] = await Promise.all([firm.jobs.list(filter), firm.jobs.count(counted)]);
  return { jobs: page.jobs.map(rowOf), total_count: count, next: page.next };
}
