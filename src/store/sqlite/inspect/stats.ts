/** stats and groupedStats: counts over all jobs. */
import {
  DUE_ROWS_MIN,
  NO_GROUPS,
  closedNames,
  cutShortBehindGates,
  cutShortOf,
  groupsBehindGates,
  statsBehindGates,
  type ClosedNames,
} from "../../shared/counts.ts";
import type { CountName, GroupedStats, GroupLimits, Stats } from "../../types/records.ts";
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
  // One row more is looked for, and the number must stay exact.
  const max = bounded(wanted, ROWS_MAX);
  const counts = countsOf(session, max);
  const { sql, clock } = session;
  if (closedGates(session).size === 0) return { ...counts, ...oldestOf(session), cutShort: [] };
  const due = sql.get("count_due", { rows: Math.max(max, DUE_ROWS_MIN), now: clock.now() });
  if (due === undefined) throw new Error("count_due returned no row");
  const { queued, behind, rank, exact } = due;
  const oldestQueuedMs = waitedSince(session, rank);
  return statsBehindGates(counts, { queued, behind, oldestQueuedMs, isExact: exact === 1 }, max);
}

/** What closed gates hold back. */
function closedGates({ sql, clock }: Session): ClosedNames {
  return closedNames(sql.all("closed_targets", { now: clock.now() }));
}

/** The jobs in each place, as the tables have them. */
export function countsOf(session: Session, max: number): Pick<Stats, CountName | "retrying"> {
  const { scheduled, retrying, ready, blocked } = countWaiting(session, max);
  return {
    scheduled,
    retrying,
    queued: ready,
    held: blocked,
    running: count(session, { states: ["running"] }, max).count,
    failed: count(session, { states: ["failed"] }, max).count,
  };
}

export function groupedStats(session: Session, limits: GroupLimits, only?: string): GroupedStats {
  const { sql, names } = session;
  const tenant = only === undefined ? null : names.find("tenant", only);
  if (tenant === undefined) return NO_GROUPS;
  const rows = bounded(limits.rows, ROWS_MAX);
  const groups = bounded(limits.groups, GROUPS_MAX);
  const found = sql.all("count_groups", {
    rows,
    groups: groups + 1,
    tenant,
    categories: limits.categories === true ? 1 : 0,
    now: session.clock.now(),
  });
  const closed = closedGates(session);
  const shown = groupsBehindGates(found.slice(0, groups), closed);
  return {
    groups: shown.map(
      ({ type, lane, tenant: of, category, oldest_ms: oldestQueuedMs, ...counts }) => ({
        type: names.text(type),
        lane: names.text(lane),
        tenant: names.text(of),
        category: category === null ? null : names.text(category),
        ...counts,
        oldestQueuedMs,
      }),
    ),
    cutShort: cutShortBehindGates(cutShortOf(countsOf(session, rows + 1), rows), closed),
    hasMore: found.length > groups,
  };
}

function oldestOf(session: Session): Pick<Stats, "oldestQueuedMs" | "isOldestExact"> {
  const { rank = null, hops = 0 } = session.sql.get("oldest_ready", { hops: HOPS_MAX }) ?? {};
  return { oldestQueuedMs: waitedSince(session, rank), isOldestExact: hops < HOPS_MAX };
}

function waitedSince({ clock }: Session, rank: number | null): number | null {
  return rank === null ? null : Math.max(0, clock.now() - Math.floor(rank / 1000));
}
