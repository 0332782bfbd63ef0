/** Views of the library as a caller may read them. */
import type { JobView } from "../api/client.ts";
import type { Redactor } from "./redaction.ts";

export function redactedJob(job: JobView, redactor: Redactor): object {
  const { payload, result, error, cancelReason } = job;
  return {
    ...job,
    payload: redactor.value(payload),
    result: redactor.value(result),
    error: redactor.fault(error),
    cancelReason: cancelReason === null ? null : redactor.text(cancelReason),
  };
}
