/** stats: counts by state, and the age of the oldest queued job. */
import { stateCodec } from "../../shared/codes.ts";
import type { Counts } from "../../doctor/invariants.ts";
import type { Stats } from "../../types/records.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";

/** Pairs of lane and priority that the search for the oldest job visits. */
const HOPS_MAX = 10_000;

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
