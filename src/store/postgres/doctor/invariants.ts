/** Checks each invariant in a snapshot of its own, without blocking other transactions. */
import type { Extent } from "../../doctor/bounds.ts";
import {
  OFFENDING_JOBS_MAX,
  INVARIANTS,
  miscounted,
  type BrokenInvariant,
} from "../../doctor/invariants.ts";
import type { UnfinishedChecks } from "../../doctor/unfinished.ts";
import type { Session } from "../database/session.ts";
import { countsOf } from "../inspect/stats.ts";

export interface CheckOptions {
  /** How far the checks reach. */
  readonly extent: Extent;
  /** Whether to check invariants that read whole tables. */
  readonly isDeep: boolean;
  /** Whether there are no misplaced jobs, which would explain a wrong count. */
  readonly isSound: boolean;
  readonly checks: UnfinishedChecks;
}

export async function brokenInvariants(
  session: Session,
  { extent, isDeep, isSound, checks }: CheckOptions,
): Promise<readonly BrokenInvariant[]> {
  const found: BrokenInvariant[] = [];
  const parameters = { examined: extent.examined, limit: OFFENDING_JOBS_MAX };
  for (const invariant of INVARIANTS) {
    if (invariant.isDeep && !isDeep) continue;
    const offenders = await checks.run(invariant.name, [], () =>
      session.snapshot(async (sql) => {
        if (!isDeep) await sql.get("prefer_lookups", {});
        return sql.all(invariant.query, parameters);
      }),
    );
    if (offenders.length > 0) found.push({ invariant, offenders });
  }
  if (!isDeep || !isSound || found.length > 0 || checks.all.length > 0) return found;
  return checks.run("miscount", [], () => miscounts(session));
}

/** Compares the statistics with a recount. Another finding would explain a difference. */
async function miscounts(session: Session): Promise<readonly BrokenInvariant[]> {
  return session.snapshot(async (sql) => {
    const recount = await sql.get("recount", {});
    const counts = await countsOf(sql, Number.MAX_SAFE_INTEGER);
    return recount === undefined ? [] : miscounted(counts, recount);
  });
}
