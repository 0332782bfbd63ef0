/** stats: counts over all jobs. */
import type { Stats } from "../../types/records.ts";
import { count, countWaiting } from "./jobs.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session } from "../database/session.ts";

/** The maximum of lanes times priorities that the search for the oldest job visits. */
const HOPS_MAX = 10_000;

export function stats(session: Session, wanted: number): Stats {
  const max = bounded(wanted, Number.MAX_SAFE_INTEGER);
  const { scheduled, ready, blocked } = countWaiting(session, max);
  return {
    scheduled,
    queued: ready,
    held: blocked,
    running: count(session, { states: ["running"] }, max),
    failed: count(session, { states: ["failed"] }, max),
    ...oldestOf(session),
  };
}

function oldestOf({ sql, clock }: Session): Pick<Stats, "oldestQueuedMs" | "isOldestExact"> {
  const { rank = null, hops = 0 } = sql.get("oldest_ready", { hops: HOPS_MAX }) ?? {};
  return {
    oldestQueuedMs: rank === null ? null : Math.max(0, clock.now() - Math.floor(rank / 1000)),
    isOldestExact: hops < HOPS_MAX,
  };
}
