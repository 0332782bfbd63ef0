/** What the firms' program asks for: a payload, its check, and the job. */
import { randomUUID } from "node:crypto";
import type { Json, Millrace } from "millrace";
import { categoryOf } from "./categories.ts";
import { createJob, ValidationError, type NewFirmJob, type QueueRow } from "./job-queue.ts";
import { PayloadValidator } from "./payload-validator.ts";

/** The optional parts of a request. */
export type RequestOptions = Partial<
  Pick<NewFirmJob, "correlation_id" | "priority" | "scheduled_at" | "max_attempts">
>;

/** Asks for a job of a firm by its type, its key and the objects that it is about. */
export function requestJob(
  mill: Millrace,
  firm: number,
  job: {
    readonly type: string;
    readonly key: string;
    readonly refs: Readonly<Record<string, Json>>;
  },
  { correlation_id: correlation = randomUUID(), ...options }: RequestOptions = {},
): Promise<QueueRow> {
  const category = categoryOf(job.type);
  if (category === null) throw new ValidationError(`there is no job type ${job.type}`);
  const payload = PayloadValidator.create_payload({
    tenant_id: firm,
    correlation_id: correlation,
    idempotency_key: job.key,
    ...job.refs,
  });
  return createJob(mill.forTenant(String(firm)), {
    category,
    job_type: job.type,
    payload,
    idempotency_key: payload.idempotency_key,
    correlation_id: payload.correlation_id,
    ...options,
  });
}
