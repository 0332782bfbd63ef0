/** The job that repeats a dead letter. */
import type { JobId } from "../core/job.ts";
import { decode } from "../core/payload.ts";
import type { NewJob } from "../store/types/jobs-and-runs.ts";
import type { DeadLetterRecord, JobSpec } from "../store/types/records.ts";
import { successorOf, type Repeatable } from "./retry-as-new-job.ts";

const KEY_LENGTH_MAX = 500;

/** The copy of the failed job. Throws if it is damaged. */
export function specOf({ id, spec }: DeadLetterRecord): JobSpec {
  decode(spec, `the dead letter of job ${id}`);
  const copy: JobSpec = JSON.parse(spec);
  return copy;
}

export function letterSuccessor(
  letter: DeadLetterRecord,
  id: JobId,
  by: { readonly actor: string; readonly nowMs: number },
): NewJob & { readonly retryOf: JobId } {
  const spec = specOf(letter);
  const repeatable: Repeatable = spec;
  const job = successorOf(repeatable, id, { createdBy: by.actor });
  const key = spec.idempotencyKey === null ? null : retryKey(spec.idempotencyKey, id, by.nowMs);
  return {
    ...job,
    retryOf: letter.id,
    idempotency: key === null ? null : { key, onConflict: "return-existing" },
  };
}

/** The old key belongs to the failed job: the new key has the time of the retry behind it. */
export function retryKey(old: string, id: JobId, nowMs: number): string {
  const suffix = `_retry_${(nowMs / 1_000).toFixed(3)}`;
  if (old.length + suffix.length <= KEY_LENGTH_MAX) return old + suffix;
  // A key that has been cut may be equal to that of another job, so the id makes it unique.
  const tail = `_${id}${suffix}`;
  return old.slice(0, KEY_LENGTH_MAX - tail.length).toWellFormed() + tail;
}
