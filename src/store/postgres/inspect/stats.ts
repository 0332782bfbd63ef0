/** stats and groupedStats: counts by state, and the age of the oldest queued job. */
import { stateCodec } from "../../shared/codes.ts";
import type { Counts } from "../../doctor/invariants.ts";
import { cutShortOf, NO_GROUPS } from "../../shared/counts.ts";
import type { GroupedStats, Stats } from "../../types/records.ts";
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
  const max = bounded(wanted, Number.MAX_SAFE_INTEGER);
  return session.snapshot(async (sql) => {
    const oldest = await sql.get("longest_due", { hops: HOPS_MAX });
    return {
      ...(await countsOf(sql, max)),
      oldestQueuedMs: oldest?.ms ?? null,
      isOldestExact: (oldest?.hops ?? 0) < HOPS_MAX,
    };
  });
}

export async function groupedStats(
  session: Session,
  limits: { readonly rows: number; readonly groups: number },
  only?: string,
): Promise<GroupedStats> {
  const { names } = session;
  const tenant = only === undefined ? null : await names.id("tenant", only);
  if (tenant === undefined) return NO_GROUPS;
  const rows = bounded(limits.rows, ROWS_MAX);
  const groups = bounded(limits.groups, GROUPS_MAX);
  const { found, counts } = await session.snapshot(async (sql) => ({
    found: await sql.all("count_groups", { rows, groups: groups + 1, tenant }),
    counts: await countsOf(sql, rows + 1),
  }));
  const shown = found.slice(0, groups);
  await names.learn(shown.flatMap((row) => [row.type, row.lane, row.tenant]));
  return {
    groups: shown.map(({ type, lane, tenant: of, ...group }) => ({
      type: names.text(type),
      lane: names.text(lane),
      tenant: names.text(of),
      ...group,
    })),
    cutShort: cutShortOf(counts, rows),
    hasMore: found.length > groups,
  };
}

/** All figures but the age of the oldest job. */
export async function countsOf(sql: Sql, max: number): Promise<Counts> {
  const places = await sql.get("count_places", { max });
  const failed = await sql.get("count_ended", { state: stateCodec.code.failed, max });
  return {
    scheduled: places?.scheduled ?? 0,
    queued: places?.ready ?? 0,
    held: places?.blocked ?? 0,
    running: places?.running ?? 0,
    failed: failed?.count ?? 0,
  };
}
