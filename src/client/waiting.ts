/** `wait` and `result`: wait until a job is final, no matter which process runs the job. */
import { within, type Clock } from "../core/clock.ts";
import { durationMs, formatDuration } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { isFinal, type JobId } from "../core/job.ts";
import type { Fault } from "../core/outcome.ts";
import { decode } from "../core/payload.ts";
import type { WaitOptions } from "../api/client.ts";
import type { Finished } from "../api/enqueue.ts";
import type { Feed } from "../events/feed.ts";
import type { EventKind, JobRecord } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";
import type { NotFound } from "../jobs/views.ts";

/** How often the job is read without an event: the feed is complete, but its reader may fail. */
const POLL_MS = 5_000;
/** The kinds of event that make a job final. Events of other kinds do not cause a read. */
const FINAL_KINDS: ReadonlySet<EventKind> = new Set<EventKind>([
  "job:completed",
  "job:failed",
  "job:cancelled",
]);

export interface WaitParts {
  readonly store: JobStore;
  readonly feed: Feed;
  readonly clock: Clock;
  /** Aborts before the store closes: the job is read once more, then the wait ends. */
  readonly closing: AbortSignal;
  readonly notFound: NotFound;
}

/** Resolves with the final record of a job. */
export async function untilFinal(
  { store, feed, clock, closing, notFound }: WaitParts,
  id: JobId,
  options: WaitOptions = {},
): Promise<JobRecord> {
  const limitMs = options.timeout === undefined ? null : durationMs(options.timeout, "timeout");
  const endsAt = limitMs === null ? null : clock.monotonic() + limitMs;
  let named = id;
  const finalEvent = listenForFinal(feed, () => named);
  const abort = aborted(options.signal);
  const close = aborted(closing);
  const ended = close.promise.catch(() => {});
  const leftMs = (): number =>
    endsAt === null ? POLL_MS : Math.min(POLL_MS, endsAt - clock.monotonic());
  try {
    // If the job ends before the feed knows its position, the first read finds the final job.
    const begun = Promise.race([feed.beginning, ended, abort.promise.catch(() => {})]);
    await within(clock, Math.max(0, leftMs()), begun);
    for (;;) {
      const event = finalEvent.next();
      const isLastRead = closing.aborted;
      const job = await store.get(id);
      if (job === null) throw notFound(id);
      if (isFinal(job.state)) return job;
      if (isLastRead) throw closed(id, job.state);
      if (job.id !== named) {
        // An alias: events name the job itself. Its end may have passed since the read.
        named = job.id;
        continue;
      }
      const ms = leftMs();
      if (ms <= 0) throw timedOut(id, job.state, limitMs ?? 0);
      await within(clock, ms, Promise.race([event, ended, abort.promise]));
    }
  } finally {
    finalEvent.stop();
    abort.stop();
    close.stop();
  }
}

/** `next` resolves at the next event that makes the job final. */
function listenForFinal(feed: Feed, id: () => JobId): { next(): Promise<void>; stop(): void } {
  let wake = (): void => {};
  const stop = feed.listen(({ kind, jobs }) => {
    if (FINAL_KINDS.has(kind) && jobs.includes(id())) wake();
  });
  return {
    next: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
    stop,
  };
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
export function finishedOf(job: JobRecord, failedUnits: number): Finished<any> {
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
    case "scheduled":
    case "queued":
    case "running":
      throw new Error(`job ${id} is ${job.state}, not final`);
  }
}

/** The result of a final job; throws if the job failed or was cancelled. */
export function resultOf(job: JobRecord): unknown {
  const finished = finishedOf(job, 0);
  switch (finished.state) {
    case "completed":
    case "completed_with_errors":
      return finished.result;
    case "failed":
      throw new MillraceError("JOB_FAILED", `job ${job.id} failed: ${finished.error.message}`, {
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

function faultOf(job: JobRecord): Fault {
  return job.fault ?? { class: "retryable", name: "Error", message: "no error was recorded" };
}
