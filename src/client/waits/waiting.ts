/** `wait` and `result`: wait until a job is final, no matter which process runs the job. */
import type { Clock } from "../../core/clock.ts";
import { durationMs, formatDuration } from "../../core/duration.ts";
import { MillraceError } from "../../core/errors.ts";
import { isFinal, type JobId } from "../../core/job.ts";
import type { Fault } from "../../core/outcome.ts";
import { decode } from "../../core/payload.ts";
import type { WaitOptions } from "../../api/client.ts";
import type { Finished } from "../../api/enqueue.ts";
import type { FinalJob } from "../../store/types/records.ts";
import type { JobStore } from "../../store/store.ts";
import type { EndWatch } from "./end-watch.ts";
import type { KnownTypes } from "../known-types.ts";

export interface WaitParts {
  readonly store: Pick<JobStore, "get">;
  readonly endWatch: EndWatch;
  readonly clock: Clock;
  /** Aborts before the store closes: the job is read once more, then the wait ends. */
  readonly closing: AbortSignal;
  readonly known: Pick<KnownTypes, "notFound">;
}

/** Resolves with the final job. */
export async function untilFinal(
  { store, endWatch, clock, closing, known }: WaitParts,
  id: JobId,
  options: WaitOptions = {},
): Promise<FinalJob> {
  const limitMs = options.timeout === undefined ? null : durationMs(options.timeout, "timeout");
  const wait = endWatch.add(id);
  const abort = aborted(options.signal);
  const close = aborted(closing);
  const timeout = timeoutAfter(clock, limitMs);
  try {
    const given = close.promise.catch(() => "closing" as const);
    const end = await Promise.race([wait.end, abort.promise, given, timeout.promise]);
    if (end === null) throw known.notFound(id);
    if (typeof end === "object") return end;
    // The last read also says where the job stands.
    const job = await store.get(id);
    if (job === null) throw known.notFound(id);
    const { state } = job;
    if (isFinal(state)) return { ...job, state };
    throw end === "closing" ? closed(id, state) : timedOut(id, state, limitMs ?? 0);
  } finally {
    wait.stop();
    abort.stop();
    close.stop();
    timeout.stop();
  }
}

function timeoutAfter(
  clock: Clock,
  ms: number | null,
): { promise: Promise<"timeout">; stop(): void } {
  const { promise, resolve } = Promise.withResolvers<"timeout">();
  return { promise, stop: ms === null ? () => {} : clock.after(ms, () => resolve("timeout")) };
}

function aborted(signal: AbortSignal | undefined): { promise: Promise<never>; stop(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  // Without a race at that moment, the rejection would count as unhandled.
  promise.catch(() => {});
  const onAbort = (): void => reject(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  return { promise, stop: () => signal?.removeEventListener("abort", onAbort) };
}

function timedOut(id: JobId, state: string, limitMs: number): MillraceError {
  const message = `job ${id} is still ${state} after ${formatDuration(limitMs)}`;
  return new MillraceError("WAIT_TIMED_OUT", message, { details: { id, state } });
}

function closed(id: JobId, state: string): MillraceError {
  const message = `the mill was closed while job ${id} is ${state}; the job continues`;
  return new MillraceError("STORE_CLOSED", message, { details: { id, state } });
}

/** The final job, as a union by its state. */
export function finishedOf(job: FinalJob, failedUnits: number): Finished<any> {
  const { id, type } = job;
  const result = decode(job.result, `the result of job ${id}`);
  switch (job.state) {
    case "completed":
      return { id, type, state: "completed", result };
    case "completed_with_errors":
      return { id, type, state: "completed_with_errors", result, failedUnits };
    case "failed":
      return { id, type, state: "failed", error: faultOf(job), deadLetterId: id };
    case "cancelled":
      return { id, type, state: "cancelled", reason: job.cancelReason };
  }
}

/** The result of a final job; throws if the job failed or was cancelled. */
export function resultOf(job: FinalJob): unknown {
  const finished = finishedOf(job, 0);
  switch (finished.state) {
    case "completed":
    case "completed_with_errors":
      return finished.result;
    case "failed":
      throw new MillraceError("JOB_FAILED", `job ${job.id} failed: ${finished.error.message}`, {
        cause: errorOf(finished.error),
        details: { id: job.id, error: finished.error },
      });
    case "cancelled": {
      const why = finished.reason === null ? "" : `: ${finished.reason}`;
      throw new MillraceError("JOB_CANCELLED", `job ${job.id} was cancelled${why}`, {
        details: { id: job.id },
      });
    }
  }
}

/** The error of the job as the handler threw it, as far as it was stored. */
function errorOf({ name, message, stack = `${name}: ${message}` }: Fault): Error {
  return Object.defineProperties(new Error(message), {
    name: { value: name },
    stack: { value: stack },
  });
}

function faultOf(job: FinalJob): Fault {
  return job.fault ?? { class: "retryable", name: "Error", message: "no error was recorded" };
}
