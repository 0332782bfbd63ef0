/** Reasons to interrupt a run, and the errors that they cause. */
import { MillraceError } from "../core/errors.ts";

/**
 * Why a run is interrupted. A stop of the worker has its own time limit for handlers. The expiry of
 * the lease has none, because the run may still be the only one of its job.
 */
export type RunInterruption =
  | { readonly type: "cancelled"; readonly reason: string | null }
  | { readonly type: "timed_out"; readonly limitMs: number }
  | { readonly type: "interrupted"; readonly by: "stop" | "store" | "expiry" };

export function isExpiry(why: RunInterruption): boolean {
  return why.type === "interrupted" && why.by === "expiry";
}

/** The reason itself, or the error of an aborted call, whose cause is the reason. */
export function isAbortBy(reason: unknown, error: unknown): boolean {
  if (error === reason) return true;
  return error instanceof Error && (error.name === "AbortError" || error.cause === reason);
}

export function reasonOf(why: RunInterruption): MillraceError {
  const message = isExpiry(why)
    ? "the lease of the worker has expired: another worker may run this job"
    : `the run was ended: ${why.type}`;
  return new MillraceError("JOB_CANCELLED", message);
}
