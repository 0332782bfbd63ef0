/**
 * cancel: a waiting job ends at once; the worker of a running one is asked to stop it. Such a
 * request is a promise: whatever becomes of the run, the job never goes back to waiting.
 */
import { idBytes } from "../../core/ids.ts";
import { isFinal, type JobId } from "../../core/job.ts";
import type { Settlement } from "../../core/outcome.ts";
import { stateCodec } from "../codes.ts";
import { endOf } from "../end.ts";
import type { CancelAnswer, JobKey } from "../store.ts";
import { writeLedger } from "./ledger.ts";
import { takeWaiting, type Session } from "./session.ts";

export function cancel(
  session: Session,
  id: JobId,
  by: string | null,
  reason: string | null,
): CancelAnswer {
  const { sql, clock } = session;
  const row = sql.get("job_by_id", { id: idBytes(id) });
  if (row === undefined) return { status: "unknown" };

  const state = stateCodec.word(row.state);
  if (isFinal(state)) return { status: "final", state };
  if (cancelWaiting(session, row.key, reason)) return { status: "cancelled" };

  sql.run("insert_cancel_request", { key: row.key, by, reason, at: clock.now() });
  return { status: "requested" };
}

/** Ends a job in whichever place it waits. Answers whether it did wait. */
export function cancelWaiting(session: Session, key: JobKey, reason: string | null): boolean {
  const waiting = takeWaiting(session, key);
  if (waiting === undefined) return false;
  endUnstarted(session, [{ ...waiting, reason }]);
  return true;
}

interface Unstarted {
  readonly key: JobKey;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  readonly reason: string | null;
}

/** Writes the end of jobs that were cancelled before they began. */
export function endUnstarted(session: Session, jobs: readonly Unstarted[]): void {
  if (jobs.length === 0) return;
  const { sql, clock, tidings } = session;
  for (const { key, n, tries, crashes, reason } of jobs) {
    const settlement: Settlement = {
      to: "cancelled",
      outcome: "cancelled",
      tries,
      crashes,
      reason,
    };
    const run = { lease: null, key, n, startedAt: null, settlement };
    writeLedger(session, run, { ...endOf(settlement, reason), nextRunAt: null }, clock.now());
  }
  const keys = jobs.map(({ key }) => key);
  sql.run("delete_dedup", { keys: JSON.stringify(keys) });
  sql.run("delete_cancel_requests", { keys: JSON.stringify(keys) });
  tidings.tell({ kind: "job:cancelled", jobs: keys });
}

/** Which of these jobs somebody asked to cancel, and why. */
export function findCancelRequests(
  { sql }: Session,
  keys: readonly JobKey[],
): ReadonlyMap<JobKey, string | null> {
  const rows = sql.all("find_cancel_requests", { keys: JSON.stringify(keys) });
  return new Map(rows.map(({ key, reason }) => [key, reason]));
}

/** The requests were met, or came too late. */
export function dropCancelRequests({ sql }: Session, keys: readonly JobKey[]): void {
  if (keys.length > 0) sql.run("delete_cancel_requests", { keys: JSON.stringify(keys) });
}
