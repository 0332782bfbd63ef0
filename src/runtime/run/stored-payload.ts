/** The stored payload of a job, as its handler gets it. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { parsePayload } from "../../jobs/new-job.ts";
import { NonRetryableError } from "../../core/errors.ts";
import { decode } from "../../core/payload.ts";
import type { ClaimedJob } from "../../store/types/jobs-and-runs.ts";

/** A payload that was damaged in the store does not heal by a retry. */
export function storedPayload({ id, payload }: ClaimedJob): unknown {
  try {
    return decode(payload, `the payload of job ${id}`);
  } catch (error) {
    return refuse(error);
  }
}

/** The output of the schema for the stored payload. A payload that it refuses is not retried. */
export function acceptedPayload(type: string, schema: StandardSchemaV1, stored: unknown): unknown {
  try {
    const payload = parsePayload(type, schema, stored);
    return payload instanceof Promise ? payload.catch(refuse) : payload;
  } catch (error) {
    return refuse(error);
  }
}

function refuse(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  throw new NonRetryableError(message, { cause: error });
}
