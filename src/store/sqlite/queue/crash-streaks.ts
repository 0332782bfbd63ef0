/**
 * Jobs of a type that have died alone, one after the other. After several without a success of the
 * type in between, the gate of the type is closed, and one job at a time is tried alone.
 */
import { crashGateReason, LONE_DEATHS_MAX, PROBE_MS_MIN } from "../../../core/crashes.ts";
import { stateCodec } from "../../shared/codes.ts";
import { CRASH_GATE_BY, SUCCESSES_SEARCHED_MAX } from "../../shared/crash-gate.ts";
import type { Session } from "../database/session.ts";

/** A job of this type has died while it ran alone. */
export function countLoneDeath(session: Session, type: number): void {
  const { sql, clock } = session;
  const now = clock.now();
  const streak = sql.get("find_streak", { type });
  const isBroken = streak === undefined || hasSucceeded(session, type, streak.at);
  const ended = isBroken ? 1 : streak.ended + 1;
  const isClosed = streak?.probe_at != null;
  const closes = !isClosed && ended >= LONE_DEATHS_MAX && !isPaused(session, type, now);
  sql.run("put_streak", {
    type,
    ended,
    at: now,
    probe_at: closes ? now + PROBE_MS_MIN : (streak?.probe_at ?? null),
    probe_ms: closes ? PROBE_MS_MIN : (streak?.probe_ms ?? 0),
  });
  // A probe that has died is counted as well: the reason names the new number.
  if (closes || (isClosed && ended >= LONE_DEATHS_MAX)) {
    const reason = crashGateReason(ended);
    sql.run("close_gate", { name: type, until: null, reason, by: CRASH_GATE_BY });
  }
}

function hasSucceeded({ sql }: Session, type: number, since: number): boolean {
  return (["completed", "completed_with_errors"] as const).some((word) => {
    const state = stateCodec.code[word];
    const limit = SUCCESSES_SEARCHED_MAX;
    return sql.get("success_since", { state, since, type, limit }) !== undefined;
  });
}

function isPaused({ sql }: Session, type: number, now: number): boolean {
  return sql.get("gate_is_closed", { name: type, now }) !== undefined;
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
