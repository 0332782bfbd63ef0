/** The stored payload of a job, as its handler gets it. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { parsePayload, readPayload, versionProblem } from "../../jobs/new-job.ts";
import type { JobSettings } from "../../api/settings.ts";
import { MillraceError, NonRetryableError } from "../../core/errors.ts";
import { decode } from "../../core/payload.ts";
import type { ClaimedJob } from "../../store/types/jobs-and-runs.ts";
import { Snooze } from "./snooze.ts";

/** How long a job waits that newer code has made. Its attempts are not charged. */
const NEWER_VERSION_MS = 30_000;

/**
 * The payload in the version that the code knows. A payload that was damaged in the store, or whose
 * version no upcast reads, does not heal by a retry. A newer version does by a deploy.
 */
export function storedPayload(
  { id, type, payload, payloadVersion: version }: ClaimedJob,
  settings: JobSettings,
): unknown {
  try {
    const stored = decode(payload, `the payload of job ${id}`);
    // The fast path: most types have no versions.
    if (version === null && settings.payloadVersion === undefined) return stored;
    const read = readPayload(settings, { version, payload: stored });
    if (read.status === "current") return read.payload;
    const problem = versionProblem(type, settings, version, read.status);
    if (read.status === "unreadable") throw new MillraceError("PAYLOAD_INVALID", problem);
    throw new Snooze(NEWER_VERSION_MS, {
      class: "transient",
      name: "PayloadVersionError",
      message: `${problem}; the job waits for a worker with newer code`,
    });
  } catch (error) {
    return error instanceof Snooze ? rethrow(error) : refuse(error);
  }
}

function rethrow(error: Snooze): never {
  throw error;
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
