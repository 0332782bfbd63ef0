/** Checks the invariants of the file, within the caller's read transaction. */
import type { DatabaseSync } from "node:sqlite";
import { idFromBytes } from "../../../core/ids.ts";
import type { Extent } from "../../doctor/bounds.ts";
import {
  OFFENDING_JOBS_MAX,
  INVARIANTS,
  miscounted,
  type BrokenInvariant,
  type OffendingJob,
  type Counts,
} from "../../doctor/invariants.ts";
import { queries } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { countsOf } from "../inspect/stats.ts";

type OffenderRow = Readonly<Record<string, any>>;

/** `isDeep`: also checks the invariants whose queries read whole tables. */
export function brokenInvariants(
  database: DatabaseSync,
  session: Session,
  { isDeep, extent }: { readonly isDeep: boolean; readonly extent: Extent },
): BrokenInvariant[] {
  const values: Readonly<Record<string, number>> = {
    examined: extent.examined,
    limit: OFFENDING_JOBS_MAX,
    now: session.clock.now(),
  };
  return INVARIANTS.filter((invariant) => isDeep || !invariant.isDeep).flatMap((invariant) => {
    const { text, parameters } = queries[invariant.query];
    const bound = parameters.map((name) => values[name] ?? null);
    const offenders = database
      .prepare(text)
      .all(...bound)
      .map(offenderOf);
    return offenders.length === 0 ? [] : [{ invariant, offenders }];
  });
}

function offenderOf({ key, id, name }: OffenderRow): OffendingJob {
  const job = { key, id: id === null ? null : idFromBytes(id) };
  return name === undefined ? job : { ...job, name };
}

/** Compares the statistics with a recount. Another finding would explain a difference. */
export function miscounts(database: DatabaseSync, session: Session): readonly BrokenInvariant[] {
  const recount: any = database.prepare(queries.recount.text).get();
  const counted: Counts = recount;
  return miscounted(countsOf(session, Number.MAX_SAFE_INTEGER), counted);
}
