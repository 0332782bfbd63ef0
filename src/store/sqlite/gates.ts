/** promote, pause, resume, hold and release: what lets waiting jobs through and what does not. */
import { gateName } from "../decoded.ts";
import type { Gate, GateName, Promotion } from "../store.ts";
import { bounded } from "../limits.ts";
import { putBack, type Session } from "./session.ts";

/** How far into a lane `hold` looks for each job that it may move. */
const HOLD_DEPTH_FACTOR = 20;
/** Jobs moved in one transaction. */
const MOVE_MAX = 1_000;

export function promote({ sql, clock, tidings }: Session, limit: number): Promotion {
  const now = clock.now();
  const due = sql.all("due_keys", { now, limit: bounded(limit, MOVE_MAX) });
  if (due.length > 0) {
    tidings.wake();
    const keys = JSON.stringify(due.map(({ key }) => key));
    sql.run("copy_scheduled_to_ready", { keys });
    sql.run("delete_scheduled", { keys });
  }
  return { moved: due.length, nextDueMs: nextDueMs({ sql, clock }) };
}

/** Length until the next scheduled job is due; null when none waits. */
export function nextDueMs({ sql, clock }: Pick<Session, "sql" | "clock">): number | null {
  const next = sql.get("next_due", {})?.run_at ?? null;
  return next === null ? null : Math.max(0, next - clock.now());
}

export function pause(
  { sql, names, clock }: Session,
  { kind, name }: GateName,
  why: { readonly reason: string; readonly by: string | null; readonly forMs?: number },
): void {
  const until = why.forMs === undefined ? null : clock.now() + why.forMs;
  sql.run("close_gate", { name: names.id(kind, name), until, reason: why.reason, by: why.by });
}

export function resume(session: Session, { kind, name }: GateName): void {
  const { sql, names, tidings } = session;
  const id = names.find(kind, name);
  if (id === undefined) return;
  sql.run("open_gate", { name: id });
  tidings.wake();
}

export function gates({ sql, names, clock }: Session): Gate[] {
  return sql.all("closed_gates", { now: clock.now() }).map((row) => ({
    ...gateName(names.name(row.name)),
    reason: row.reason,
    by: row.by,
    until: row.until,
  }));
}

/** Moves due jobs behind closed gates aside, lane by lane. */
export function hold(session: Session, wanted: number): number {
  const { sql, clock } = session;
  const limit = bounded(wanted, MOVE_MAX);
  const now = clock.now();
  let moved = 0;
  for (const { lane } of sql.all("ready_lanes", {})) {
    const depth = limit * HOLD_DEPTH_FACTOR;
    for (const row of sql.all("jobs_behind_gates", { lane, depth, now, limit: limit - moved })) {
      const job = sql.get("take_ready", { key: row.key });
      if (job === undefined) throw new Error(`job ${row.key} left ready inside a transaction`);
      sql.run("insert_blocked", { ...job, gate: row.gate });
      moved += 1;
    }
  }
  return moved;
}

/** Brings back what waits behind gates that have opened. */
export function release(session: Session, wanted: number): number {
  const { sql, clock } = session;
  const limit = bounded(wanted, MOVE_MAX);
  let moved = 0;
  for (const { name } of sql.all("open_gates", { now: clock.now() })) {
    const rows = sql.all("blocked_keys", { gate: name, limit: limit - moved });
    for (const { key } of rows) {
      const job = sql.get("take_blocked", { key });
      if (job === undefined) throw new Error(`job ${key} left blocked inside a transaction`);
      putBack(session, job);
    }
    moved += rows.length;
    if (moved >= limit) return moved;
    sql.run("delete_gate", { name });
  }
  return moved;
}
