/** Requests of channels, and what the answers of providers mean. */
import { NonRetryableError, RateLimitedError, TransientError } from "../core/errors.ts";
import {
  EgressRefused,
  sendRequest,
  type EgressAnswer,
  type EgressRequest,
} from "../lib/egress/egress.ts";

/** Too early, time-out: the same request may succeed later. */
const LATER: readonly number[] = [408, 425];

/** The answer of a provider that has done it. Otherwise throws what the answer means. */
export async function askProvider(
  request: EgressRequest,
  allow: readonly string[],
  isDone: (status: number) => boolean = () => false,
): Promise<EgressAnswer> {
  const answer = await send(request, allow);
  const { status } = answer;
  if ((status >= 200 && status < 300) || isDone(status)) return answer;
  const message = `the provider answered ${status}`;
  if (status === 429) throw new RateLimitedError(message, retryAfterOf(answer));
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

/** Seconds, or a date. */
function retryAfterOf({ headers }: EgressAnswer): { retryAfter?: string | number } {
  const text = headers["retry-after"]?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return { retryAfter: Number(text) * 1_000 };
  const at = Date.parse(text);
  return Number.isNaN(at) ? {} : { retryAfter: new Date(at).toISOString() };
}
