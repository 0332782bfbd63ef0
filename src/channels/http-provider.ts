/** Requests of channels, and what the answers of providers mean. */
import { RETRY_AFTER_MS_MAX } from "../core/policy.ts";
import { NonRetryableError, RateLimitedError, TransientError } from "../core/errors.ts";
import {
  EgressRefused,
  sendRequest,
  type EgressAnswer,
  type EgressRequest,
} from "../lib/egress/egress.ts";

/** Too early, time-out: the same request may succeed later. */
const LATER: readonly number[] = [408, 425];

export interface ProviderRules {
  /** Origins that are trusted. */
  readonly allow: readonly string[];
  /** The time, in milliseconds since the epoch. */
  readonly now: number;
  /** Further answers that mean success. */
  readonly isDone?: (status: number) => boolean;
}

/** The answer of a provider that has done it. Otherwise throws what the answer means. */
export async function askProvider(
  request: EgressRequest,
  { allow, now, isDone = () => false }: ProviderRules,
): Promise<EgressAnswer> {
  const answer = await send(request, allow);
  const { status } = answer;
  if ((status >= 200 && status < 300) || isDone(status)) return answer;
  const message = `the provider answered ${status}`;
  if (status === 429) throw new RateLimitedError(message, retryAfterOf(answer, now));
  if (status >= 500 || LATER.includes(status)) throw new TransientError(message);
  throw new NonRetryableError(message);
}

async function send(request: EgressRequest, allow: readonly string[]): Promise<EgressAnswer> {
  try {
    return await sendRequest(request, { allow });
  } catch (cause) {
    // The abort of the run decides by itself how the run ends.
    if (request.signal?.aborted === true) throw cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    if (cause instanceof EgressRefused) throw new NonRetryableError(message, { cause });
    throw new TransientError(message, { cause });
  }
}

/** A date of HTTP, such as `Sun, 06 Nov 1994 08:49:37 GMT`. */
const IMF_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Seconds, or a date. What is no time to wait is left out, and the backoff counts. */
function retryAfterOf({ headers }: EgressAnswer, now: number): { retryAfter?: number } {
  const text = headers["retry-after"]?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : dateOf(text) - now;
  return ms > 0 ? { retryAfter: Math.min(ms, RETRY_AFTER_MS_MAX) } : {};
}

function dateOf(text: string): number {
  return IMF_DATE.test(text) ? Date.parse(text) : Number.NaN;
}
