/** The retry policy of one type: the preset, with the backoff of the definition. */
import type { BackoffPolicy } from "../core/backoff.ts";
import { durationMs } from "../core/duration.ts";
import type { RetryPolicy } from "../core/policy.ts";
import type { JobSettings } from "../api/settings.ts";

/** The definition's backoff applies to failures; rate limits keep the preset's longer backoff. */
export function policyOf(preset: RetryPolicy, { backoff }: JobSettings): RetryPolicy {
  if (backoff === undefined) return preset;
  const own: BackoffPolicy = {
    kind: backoff.kind,
    baseMs: durationMs(backoff.base, "backoff.base"),
    factor: backoff.factor ?? 2,
    jitter: backoff.jitter ?? preset.backoff.retryable.jitter,
    capMs:
      backoff.cap === undefined
        ? preset.backoff.retryable.capMs
        : durationMs(backoff.cap, "backoff.cap"),
    jitterAt: "cap",
  };
  return { ...preset, backoff: { ...preset.backoff, transient: own, retryable: own } };
}
