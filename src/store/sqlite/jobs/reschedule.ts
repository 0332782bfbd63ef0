/** setPriority and reschedule: an operator changes when a waiting job starts. */
import { idBytes } from "../../../core/ids.ts";
import { isFinal, type JobId } from "../../../core/job.ts";
import { prioritised, rescheduled } from "../../shared/audit/drafts.ts";
import { stateCodec } from "../../shared/codes.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import type { DueTime, JobKey } from "../../types/jobs-and-runs.ts";
import type { PlaceAnswer } from "../../types/operations.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";
import { setDue } from "../queue/dependencies.ts";
import { putWaiting, takeWaiting } from "../queue/places.ts";

export function setPriority(
  session: Session,
  id: JobId,
  priority: number,
  act: Act = NO_ACT,
): PlaceAnswer {
  const { sql, outbox, state } = session;
  return ofWaiting(session, id, (key, waits, tenant) => {
    const change = { key, priority };
    const isReady = sql.run("set_priority_of_ready", change).changes > 0;
    sql.run("set_priority_of_scheduled", change);
    sql.run("set_priority_of_blocked", change);
    // Claims may have passed the new place.
    if (isReady) state.claimCursors.forget();
    outbox.wake();
    writeAudits(session, [prioritised({ id, tenant }, act, priority)]);
    return waits;
  });
}

export function reschedule(
  session: Session,
  id: JobId,
  due: DueTime,
  act: Act = NO_ACT,
): PlaceAnswer {
  const now = session.clock.now();
  const runAt = Math.round("at" in due ? Math.max(0, due.at) : now + due.delayMs);
  return ofWaiting(session, id, (key, _, tenant) => {
    writeAudits(session, [rescheduled({ id, tenant }, act, due)]);
    if (setDue(session, key, runAt)) return "queued";
    const waiting = takeWaiting(session, key);
    if (waiting === undefined) throw new Error(`job ${key} waits but is in no place`);
    session.state.claimCursors.forget();
    return putWaiting(session, waiting, runAt, now);
  });
}

function ofWaiting(
  { sql }: Session,
  id: JobId,
  change: (key: JobKey, state: "scheduled" | "queued", tenant: number) => "scheduled" | "queued",
): PlaceAnswer {
  const row = sql.get("job_by_id", { id: idBytes(id) });
  if (row === undefined) return { status: "unknown" };
  const state = stateCodec.word(row.state);
  if (isFinal(state)) return { status: "final", state };
  if (state === "running") return { status: "running" };
  return { status: "done", state: change(row.key, state, row.tenant) };
}
