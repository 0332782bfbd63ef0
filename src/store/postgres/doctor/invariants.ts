/** Which of the invariants do not hold, all as of one moment. Nobody waits for it meanwhile. */
import { BREAKERS_MAX, INVARIANTS, miscounted, type Breach } from "../../doctor/invariants.ts";
import type { Session } from "../database/session.ts";
import { countsOf } from "../inspect/stats.ts";

export interface Look {
  /** Whether to look also at those that take reading whole tables. */
  readonly isDeep: boolean;
  /** Whether nothing else is wrong that would explain a miscount. */
  readonly isSound: boolean;
}

export async function breaches(session: Session, { isDeep, isSound }: Look): Promise<Breach[]> {
  return session.snapshot(async (sql) => {
    const found: Breach[] = [];
    for (const invariant of INVARIANTS) {
      if (invariant.isDeep && !isDeep) continue;
      const breakers = await sql.all(invariant.query, { limit: BREAKERS_MAX });
      if (breakers.length > 0) found.push({ invariant, breakers });
    }
    if (!isDeep || !isSound || found.length > 0) return found;
    const recount = await sql.get("recount", {});
    const counts = await countsOf(sql, Number.MAX_SAFE_INTEGER);
    return recount === undefined ? [] : [...miscounted(counts, recount)];
  });
}
