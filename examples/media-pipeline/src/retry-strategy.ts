/** Which failures are worth another attempt, how many there are, and how long to wait between. */
import type { JobSettings } from "millrace";
import type { RetryConfig } from "./config.ts";
import { HttpError } from "./http-error.ts";

export type RetryStrategy = Required<Pick<JobSettings, "maxAttempts" | "backoff" | "classify">>;

export function createRetryStrategy({ maxAttempts, backoff }: RetryConfig): RetryStrategy {
  return {
    maxAttempts,
    backoff,
    // What is not named recoverable stays with the preset `jobqueue`, for which it is fatal.
    classify: (error) => (isRecoverable(error) ? "transient" : undefined),
  };
}

function isRecoverable(error: unknown): boolean {
  if (error instanceof HttpError) return error.status >= 500 || TRY_LATER.has(error.status);
  // A line that broke. Fetch also throws a TypeError for a wrong URL, but without this cause.
  return error instanceof TypeError && hasCode(error.cause);
}

/** Request Timeout, Too Early, Too Many Requests. */
const TRY_LATER: ReadonlySet<number> = new Set([408, 425, 429]);

/** Such as ECONNREFUSED or UND_ERR_SOCKET. `ERR_…` are mistakes of the caller. */
function hasCode(cause: unknown): boolean {
  if (!(cause instanceof Error) || !("code" in cause)) return false;
  return typeof cause.code === "string" && !cause.code.startsWith("ERR_");
}
