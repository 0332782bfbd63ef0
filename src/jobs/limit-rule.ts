/** A limit as it is stored. */
import type { LimitRule } from "../api/control/limits.ts";
import { durationMs } from "../core/duration.ts";
import type { StoredRule } from "../store/types/limits.ts";

/** The rule has been checked. As many jobs as the rate allows in a period may start at once. */
export function storedRule({ concurrency: cap, rate }: LimitRule): StoredRule {
  const concurrency = cap ?? null;
  if (rate === undefined) return { concurrency, rate: null };
  const { limit: count, per, burst = rate.limit } = rate;
  return { concurrency, rate: { count, perMs: durationMs(per, "per"), burst } };
}
