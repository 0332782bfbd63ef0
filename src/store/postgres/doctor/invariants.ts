/** Checks the invariants in one snapshot, without blocking other transactions. */
import type { Extent } from "../../doctor/bounds.ts";
import {
  OFFENDING_JOBS_MAX,
  INVARIANTS,
  miscounted,
  type BrokenInvariant,
} from "../../doctor/invariants.ts";
import type { Session } from "../database/session.ts";
import { countsOf } from "../inspect/stats.ts";

export interface CheckOptions {
  /** How far the checks reach. */
  readonly extent: Extent;
  /** Whether to check invariants that read whole tables. */
  readonly isDeep: boolean;
  /** Whether there are no misplaced jobs, which would explain a wrong count. */
  readonly isSound: boolean;
}

export async function brokenInvariants(
  session: Session,
  { extent, isDeep, isSound }: CheckOptions,
): Promise<BrokenInvariant[]> {
  return session.snapshot(async (sql) => {
    const found: BrokenInvariant[] = [];
    const { examined } = extent;
    if (!isDeep) await sql.get("prefer_lookups", {});
    for (const invariant of INVARIANTS) {
      if (invariant.isDeep && !isDeep) continue;
      const offenders = await sql.all(invariant.query, { examined, limit: OFFENDING_JOBS_MAX });
      if (offenders.length > 0) found.push({ invariant, offenders });
    }
    if (!isDeep || !isSound || found.length > 0) return found;
    const recount = await sql.get("recount", {});
    const counts = await countsOf(sql, Number.MAX_SAFE_INTEGER);
    return recount === undefined ? [] : [...miscounted(counts, recount)];
  });
}
