/** stats and groupedStats: counts over all jobs. */
import { cutShortOf, NO_GROUPS } from "../../shared/counts.ts";
import type { CountName, GroupedStats, Stats } from "../../types/records.ts";
import { count, countWaiting } from "./jobs.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session } from "../database/session.ts";

/** The maximum of lanes times priorities that the search for the oldest job visits. */
const HOPS_MAX = 10_000;

/** One row more is read, and the number must stay exact. */
const ROWS_MAX = Number.MAX_SAFE_INTEGER - 1;
/** The maximum of groups in one answer. */
const GROUPS_MAX = 10_000;

export function stats(session: Session, wanted: number): Stats {
  const max = bounded(wanted, Number.MAX_SAFE_INTEGER);
  return { ...countsOf(session, max), ...oldestOf(session) };
}

function countsOf(session: Session, max: number): Record<CountName, number> {
  const { scheduled, ready, blocked } = countWaiting(session, max);
  return {
    scheduled,
    queued: ready,
    held: blocked,
    running: count(session, { states: ["running"] }, max),
    failed: count(session, { states: ["failed"] }, max),
  };
}

export function groupedStats(
  session: Session,
  limits: { readonly rows: number; readonly groups: number },
  only?: string,
): GroupedStats {
  const { sql, names } = session;
  const tenant = only === undefined ? null : names.find("tenant", only);
  if (tenant === undefined) return NO_GROUPS;
  const rows = bounded(limits.rows, ROWS_MAX);
  const groups = bounded(limits.groups, GROUPS_MAX);
  const found = sql.all("count_groups", { rows, groups: groups + 1, tenant });
  return {
    groups: found.slice(0, groups).map(({ type, lane, tenant: of, ...counts }) => ({
      type: names.text(type),
      lane: names.text(lane),
      tenant: names.text(of),
      ...counts,
    })),
    cutShort: cutShortOf(countsOf(session, rows + 1), rows),
    hasMore: found.length > groups,
  };
}

function oldestOf({ sql, clock }: Session): Pick<Stats, "oldestQueuedMs" | "isOldestExact"> {
  const { rank = null, hops = 0 } = sql.get("oldest_ready", { hops: HOPS_MAX }) ?? {};
  return {
    oldestQueuedMs: rank === null ? null : Math.max(0, clock.now() - Math.floor(rank / 1000)),
    isOldestExact: hops < HOPS_MAX,
  };
}
