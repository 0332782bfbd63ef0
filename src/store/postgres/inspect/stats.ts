/** stats and groupedStats: counts by state, and the age of the oldest queued job. */
import { stateCodec } from "../../shared/codes.ts";
import type { Counts } from "../../doctor/invariants.ts";
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
import type { GroupedStats, GroupLimits, Stats } from "../../types/records.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";

/** Pairs of lane and priority that the search for the oldest job visits. */
const HOPS_MAX = 10_000;
/** One row more is read, and the number must stay exact. */
const ROWS_MAX = Number.MAX_SAFE_INTEGER - 1;
/** The maximum of groups in one answer. */
const GROUPS_MAX = 10_000;

export async function stats(session: Session, wanted: number): Promise<Stats> {
  // One row more is looked for, and the number must stay exact.
  const max = bounded(wanted, ROWS_MAX);
  return session.snapshot(async (sql) => {
    const counts = await countsOf(sql, max);
    if ((await closedGates(sql)).size === 0) {
      const oldest = await sql.get("longest_due", { hops: HOPS_MAX });
      const isOldestExact = (oldest?.hops ?? 0) < HOPS_MAX;
      return { ...counts, oldestQueuedMs: oldest?.ms ?? null, isOldestExact, cutShort: [] };
    }
    const due = await sql.get("count_due", { rows: Math.max(max, DUE_ROWS_MIN) });
    if (due === undefined) throw new Error("count_due returned no row");
    const { queued, behind, ms, exact: isExact } = due;
    return statsBehindGates(counts, { queued, behind, oldestQueuedMs: ms, isExact }, max);
  });
}

/** What closed gates hold back. */
async function closedGates(sql: Sql): Promise<ClosedNames> {
  return closedNames(await sql.all("closed_targets", {}));
}

export async function groupedStats(
  session: Session,
  limits: GroupLimits,
  only?: string,
): Promise<GroupedStats> {
  const { names } = session;
  const tenant = only === undefined ? null : await names.id("tenant", only);
  if (tenant === undefined) return NO_GROUPS;
  const rows = bounded(limits.rows, ROWS_MAX);
  const groups = bounded(limits.groups, GROUPS_MAX);
  const asked = { rows, groups: groups + 1, tenant, categories: limits.categories === true };
  const { found, counts, closed } = await session.snapshot(async (sql) => ({
    found: await sql.all("count_groups", asked),
    counts: await countsOf(sql, rows + 1),
    closed: await closedGates(sql),
  }));
  const shown = groupsBehindGates(found.slice(0, groups), closed);
  await names.learn(shown.flatMap(namesOf));
  return {
    groups: shown.map(
      ({ type, lane, tenant: of, category, oldest_ms: oldestQueuedMs, ...group }) => ({
        type: names.text(type),
        lane: names.text(lane),
        tenant: names.text(of),
        category: category === null ? null : names.text(category),
        ...group,
        oldestQueuedMs,
      }),
    ),
    cutShort: cutShortBehindGates(cutShortOf(counts, rows), closed),
    hasMore: found.length > groups,
  };
}

function namesOf({ type, lane, tenant, category }: GroupKey): readonly number[] {
  return [type, lane, tenant, ...(category === null ? [] : [category])];
}

interface GroupKey {
  readonly type: number;
  readonly lane: number;
  readonly tenant: number;
  readonly category: number | null;
}

/** All figures but the age of the oldest job. */
export async function countsOf(sql: Sql, max: number): Promise<Counts & Pick<Stats, "retrying">> {
  const places = await sql.get("count_places", { max });
  const failed = await sql.get("count_ended", { state: stateCodec.code.failed, max });
  return {
    scheduled: places?.scheduled ?? 0,
    retrying: places?.retrying ?? 0,
    queued: places?.ready ?? 0,
    held: places?.blocked ?? 0,
    running: places?.running ?? 0,
    failed: failed?.count ?? 0,
  };
}
