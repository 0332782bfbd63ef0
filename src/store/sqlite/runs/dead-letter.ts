/** Inserts the dead letter of a job, in the transaction in which the job fails. */
import { causeOf } from "../../../core/failures/fingerprint.ts";
import type { Settlement } from "../../../core/outcome.ts";
import { withNameTexts, jobSpec } from "../../shared/decode-jobs.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { withIds } from "../inspect/row-ids.ts";
import type { Session } from "../database/session.ts";

export function insertDeadLetter(
  session: Session,
  key: JobKey,
  settlement: Settlement,
  now: number,
): void {
  if (settlement.to !== "failed") throw new Error(`job ${key} has not failed`);
  const row = session.sql.get("job_by_key", { key });
  if (row === undefined) throw new Error(`job ${key} has failed but has no row`);
  session.sql.run("insert_dead_letter", {
    key,
    id: row.id,
    type: row.type,
    tenant: row.tenant,
    error: JSON.stringify(settlement.fault),
    attempts: settlement.tries,
    died_at: now,
    cause: causeOf(settlement.fault),
    spec: JSON.stringify(jobSpec(withNameTexts(session.names, withIds(row)))),
  });
}
