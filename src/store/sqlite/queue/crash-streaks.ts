/**
 * Jobs of a type that have died alone, one after the other. After several without a success of the
 * type in between, the gate of the type is closed, and one job at a time is tried alone.
 */
import {
  CRASH_GATE_BY,
  crashGateReason,
  LONE_DEATHS_MAX,
  PROBE_MS_MIN,
} from "../../../core/crashes.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { Session } from "../database/session.ts";

/** A job of this type has died while it ran alone. */
export function countLoneDeath(session: Session, type: number): void {
  const { sql, clock } = session;
  const now = clock.now();
  const streak = sql.get("find_streak", { type });
  const ended = (streak?.ended ?? 0) + 1;
  const isClosed = streak?.probe_at != null;
  const closes = !isClosed && ended >= LONE_DEATHS_MAX && !isPaused(session, type, now);
  sql.run("put_streak", {
    type,
    ended,
    probe_at: closes ? now + PROBE_MS_MIN : (streak?.probe_at ?? null),
    probe_ms: closes ? PROBE_MS_MIN : (streak?.probe_ms ?? 0),
  });
  // A probe that has died is counted as well: the reason names the new number.
  if (closes || (isClosed && ended >= LONE_DEATHS_MAX)) {
    const reason = crashGateReason(ended);
    sql.run("close_gate", { name: type, now, until: null, reason, by: CRASH_GATE_BY });
  }
}

function isPaused({ sql }: Session, type: number, now: number): boolean {
  return sql.get("gate_is_closed", { name: type, now }) !== undefined;
}

/** Jobs have succeeded: the count of each of their types begins anew. */
export function resetStreaks({ sql }: Session, succeeded: readonly JobKey[]): void {
  if (succeeded.length > 0) sql.run("reset_streaks", { keys: JSON.stringify(succeeded) });
}

/** A probe has succeeded. A gate that an operator has closed stays closed. */
export function endCrashStreak(session: Session, type: string): void {
  const { sql, names, outbox } = session;
  const id = names.find("type", type);
  if (id === undefined) return;
  const streak = sql.get("delete_streak", { type: id });
  if (streak?.probe_at == null) return;
  sql.run("open_gate", { name: id });
  outbox.wake();
}
