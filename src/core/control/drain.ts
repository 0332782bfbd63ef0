/** The wait of a drain: until no job of a paused target runs any more. */
import type { Clock } from "../clock.ts";

/** The first wait between two counts, and the longest: each wait without a change is doubled. */
const POLL_MS_MIN = 100;
const POLL_MS_MAX = 2_000;

/** One count, as in the public types. */
export interface RunningNow {
  readonly running: number;
  readonly atLeast: boolean;
  readonly ids: readonly string[];
  readonly claims: readonly string[];
}

export interface DrainWait {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal | undefined;
  /** Makes the next count come at once. */
  readonly wake?: AbortSignal;
  /** Counts the running jobs. The claims are those of the count before. */
  readonly count: (claims: readonly string[] | undefined) => Promise<RunningNow>;
  readonly onCount: (count: RunningNow) => void;
}

/** The last count. A count that is not {@link isDrained} means that the time is over. */
export async function waitForDrain(options: DrainWait): Promise<RunningNow> {
  const { clock, timeoutMs, signal, count, onCount } = options;
  const endsAt = clock.monotonic() + timeoutMs;
  let last: RunningNow | null = null;
  let pollMs = POLL_MS_MIN;
  for (;;) {
    signal?.throwIfAborted();
    const now: RunningNow = await count(last?.claims);
    const hasChanged = now.running !== last?.running || now.atLeast !== last.atLeast;
    if (hasChanged) onCount(now);
    const leftMs = endsAt - clock.monotonic();
    if (isDrained(now) || leftMs <= 0) return now;
    pollMs = hasChanged ? POLL_MS_MIN : Math.min(2 * pollMs, POLL_MS_MAX);
    last = now;
    await pollAfter(clock, Math.min(pollMs, leftMs), [signal, options.wake]);
  }
}

/** A claim under way may still start a job, so that zero jobs are not enough. */
export function isDrained({ running, claims }: RunningNow): boolean {
  return running === 0 && claims.length === 0;
}

/** An abort ends the time between two counts at once. */
async function pollAfter(
  clock: Clock,
  ms: number,
  signals: readonly (AbortSignal | undefined)[],
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = clock.after(ms, resolve);
  const abort = (): void => resolve();
  for (const signal of signals) signal?.addEventListener("abort", abort);
  if (signals.some((signal) => signal?.aborted === true)) resolve();
  await promise;
  for (const signal of signals) signal?.removeEventListener("abort", abort);
  stop();
}
