/**
 * cancel: a waiting job is cancelled at once. For a running job a cancel request is stored. A job
 * with a cancel request never waits again, however its run ends.
 */
import { idBytes } from "../../../core/ids.ts";
import { isFinal, type JobId, type State } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import { cancelled } from "../../shared/audit/drafts.ts";
import type { Act } from "../../types/audit.ts";
import type { CancelAnswer } from "../../types/records.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { resolveSomeDependencies } from "../queue/dependencies.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";
import { takeWaiting } from "../queue/places.ts";
import { cancelUnstarted, type UnstartedJob } from "../runs/attempts.ts";

export function cancel(
  session: Session,
  id: JobId,
  by: string | null,
  reason: string | null,
): CancelAnswer {
  const act = { by, reason };
  return cancelWithin(session, id, act, (tenant, before, isRequested) => {
    writeAudits(session, [cancelled({ id, tenant }, act, { before, isRequested })]);
  });
}

/** The same for a schedule, which is no act of a person. `changed` is called if anything has. */
export function cancelWithin(
  session: Session,
  id: JobId,
  { by, reason }: Act,
  changed: (tenant: number, before: State, isRequested: boolean) => void = () => {},
): CancelAnswer {
  const { sql, clock } = session;
  const row = sql.get("job_by_id", { id: idBytes(id) });
  if (row === undefined) return { status: "unknown" };

  const state = stateCodec.word(row.state);
  if (isFinal(state)) return { status: "final", state };
  if (cancelWaiting(session, row.key, reason)) {
    changed(row.tenant, state, false);
    return { status: "cancelled" };
  }
  const request = { key: row.key, by, reason, at: clock.now() };
  if (sql.run("insert_cancel_request", request).changes > 0) changed(row.tenant, state, true);
  return { status: "requested" };
}

/** Cancels a waiting job. Answers whether the job was waiting. */
export function cancelWaiting(session: Session, key: JobKey, reason: string | null): boolean {
  const waiting = takeWaiting(session, key);
  if (waiting === undefined) return false;
  endUnstarted(session, [{ ...waiting, reason }]);
  return true;
}

/** Cancels jobs that have not started and were taken out of their places. */
export function endUnstarted(session: Session, jobs: readonly UnstartedJob[]): void {
  if (cancelUnstarted(session, jobs)) resolveSomeDependencies(session);
}
