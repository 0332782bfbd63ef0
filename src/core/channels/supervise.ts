/**
 * Decides what a supervised process does next, from the facts about its attempts alone. The
 * supervisor carries the decision out, and decides again when it has waited.
 */
import { backoffMs, type BackoffPolicy } from "../backoff.ts";
import { SNOOZE_MS_MIN } from "../duration.ts";

/** What is known about one attempt. Instants are milliseconds since the epoch. */
export type AttemptFact =
  | { readonly state: "outstanding"; readonly startedAt: number }
  | { readonly state: "succeeded" }
  | {
      readonly state: "failed";
      readonly endedAt: number;
      readonly message: string;
      /** No further attempt can succeed. */
      readonly isFinal: boolean;
    };

export interface SuperviseRule {
  readonly maxAttempts: number;
  /** The wait between the end of a failed attempt and the start of the next one. */
  readonly backoff: BackoffPolicy;
}

export type Supervision =
  | { readonly next: "start"; readonly n: number }
  | { readonly next: "wait"; readonly delayMs: number }
  | { readonly next: "succeeded"; readonly n: number }
  | { readonly next: "stuck"; readonly failures: number; readonly message: string };

/** The shortest and the longest wait before an outstanding attempt is looked at again. */
const LOOK_MS_MIN = 1_000;
export const LOOK_MS_MAX = 300_000;
/** No jitter: the processes of a fleet do not begin at the same moment. */
const RANDOM = 0.5;

/**
 * The next step of a process. At most one attempt is outstanding at a time. An outstanding attempt
 * is looked at after the time that it has lasted so far, so that long attempts cost few looks.
 */
export function supervise(
  attempts: readonly AttemptFact[],
  now: number,
  { maxAttempts, backoff }: SuperviseRule,
): Supervision {
  const succeeded = attempts.findIndex(({ state }) => state === "succeeded");
  if (succeeded >= 0) return { next: "succeeded", n: succeeded + 1 };
  const outstanding = attempts.find((attempt) => attempt.state === "outstanding");
  if (outstanding !== undefined) {
    return {
      next: "wait",
      delayMs: between(now - outstanding.startedAt, LOOK_MS_MIN, LOOK_MS_MAX),
    };
  }
  const failed = attempts.filter((attempt) => attempt.state === "failed");
  const last = failed.at(-1);
  if (last === undefined) return { next: "start", n: 1 };
  if (last.isFinal || failed.length >= maxAttempts) {
    return { next: "stuck", failures: failed.length, message: last.message };
  }
  const waitMs = backoffMs(backoff, failed.length, RANDOM);
  // The clock of the store and that of a worker differ: no wait is longer than the backoff.
  const leftMs = between(last.endedAt + waitMs - now, 0, waitMs);
  if (leftMs === 0) return { next: "start", n: failed.length + 1 };
  // The rest of a wait may be shorter than a job can wait.
  return { next: "wait", delayMs: Math.max(leftMs, SNOOZE_MS_MIN) };
}

function between(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
