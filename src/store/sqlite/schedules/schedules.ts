/** declareSchedules, saveSchedule and the other verbs that read or change a schedule. */
import { idFromBytes } from "../../../core/ids.ts";
import {
  differs,
  isDeclared,
  isOfAnotherTenant,
  refusedByCount,
  requireDeclared,
  scheduleColumns,
  scheduleRecord,
  slotAfter,
  slotAfterChange,
  tickRecord,
} from "../../shared/control/schedules.ts";
import { scheduleChanged, scheduleState } from "../../shared/audit/drafts.ts";
import { bounded } from "../../shared/limits.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import type {
  DueSchedules,
  FirstSlot,
  SaveAnswer,
  ScheduleChange,
  ScheduleRecord,
  ScheduleSpec,
  TickRecord,
} from "../../types/schedules.ts";
import type { ScheduleRow } from "../database/queries.gen.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";

const PAGE_MAX = 1_000;
/** Later than any slot. */
const NEVER = 9_000_000_000_001;

export function declareSchedules(
  session: Session,
  declared: readonly ScheduleSpec[],
  firstSlot: FirstSlot,
): readonly string[] {
  requireDeclared(declared);
  const replaced = declared.filter((spec) => declareOne(session, spec, firstSlot) === "replaced");
  confirmSchedules(
    session,
    declared.map(({ name }) => name),
  );
  session.outbox.wake();
  return replaced.map(({ name }) => name);
}

function declareOne(
  session: Session,
  spec: ScheduleSpec,
  firstSlot: FirstSlot,
): "stored" | "replaced" {
  const { sql, clock } = session;
  const now = clock.now();
  const stored = schedule(session, spec.name);
  const columns = { ...scheduleColumns(spec, "code"), now };
  const isReplaced = stored !== null && isOfAnotherTenant(stored, spec);
  if (isReplaced) deleteSchedule(session, spec.name);
  if (stored === null || isReplaced) {
    const next_slot = firstSlot(spec, now);
    sql.run("insert_schedule", { ...columns, next_slot, created_by: null });
  } else if (differs(stored, spec)) {
    const next_slot = slotAfterChange(stored, spec, now, firstSlot);
    sql.run("update_schedule", { ...columns, next_slot });
  }
  return isReplaced ? "replaced" : "stored";
}

export function confirmSchedules(
  { sql, clock }: Session,
  names: readonly string[],
): readonly string[] {
  requireDeclared(names);
  const list = JSON.stringify(names);
  sql.run("confirm_schedules", { names: list, now: clock.now() });
  return sql.all("list_missing_schedules", { names: list }).map(({ name }) => name);
}

export function dueSchedules(
  { sql, clock }: Session,
  declared: readonly string[],
  limit: number,
): DueSchedules {
  requireDeclared(declared);
  const now = clock.now();
  const rows = sql.all("list_due_schedules", {
    declared: JSON.stringify(declared),
    now,
    limit: bounded(limit, PAGE_MAX) + 1,
  });
  const due = rows.slice(0, limit).filter(({ next_slot: slot }) => slot <= now);
  const next = rows[due.length];
  const nextMs = next === undefined ? null : Math.max(0, next.next_slot - now);
  return { names: due.map(({ name }) => name), nextMs };
}

export function schedules(
  { sql }: Session,
  { tenant }: { readonly tenant?: string },
  { after, limit }: { readonly after?: string; readonly limit: number },
): ScheduleRecord[] {
  return sql
    .all("list_schedules", {
      after: after ?? "",
      tenant: tenant ?? null,
      limit: bounded(limit, PAGE_MAX),
    })
    .map(recordOf);
}

export function schedule({ sql }: Session, name: string): ScheduleRecord | null {
  const row = sql.get("find_schedule", { name });
  return row === undefined ? null : recordOf(row);
}

export function scheduleTicks(
  { sql }: Session,
  name: string,
  { before, limit }: { readonly before?: number; readonly limit: number },
): TickRecord[] {
  const page = { name, before: before ?? NEVER, limit: bounded(limit, PAGE_MAX) };
  return sql
    .all("list_ticks", page)
    .map((row) => tickRecord({ ...row, job: row.job === null ? null : idFromBytes(row.job) }));
}

export function saveSchedule(
  session: Session,
  spec: ScheduleSpec,
  change: ScheduleChange,
  firstSlot: FirstSlot,
): SaveAnswer {
  const { revision, by, reason = null } = change;
  const { sql, clock, outbox } = session;
  const now = clock.now();
  const stored = schedule(session, spec.name);
  const columns = { ...scheduleColumns(spec, "operator"), now };
  if (revision === null) {
    if (stored !== null) return stored.owner === "code" ? "owned_by_code" : "exists";
    const counts = sql.get("count_schedules", { tenant: spec.job.tenant });
    const refused = counts === undefined ? null : refusedByCount(counts, change);
    if (refused !== null) return refused;
    const next_slot = firstSlot(spec, now);
    sql.run("insert_schedule", { ...columns, next_slot, created_by: by });
  } else {
    if (stored === null) return "unknown";
    if (stored.owner === "code") return "owned_by_code";
    if (stored.revision !== revision) return "outdated";
    const next_slot = slotAfterChange(stored, spec, now, firstSlot);
    sql.run("update_schedule", { ...columns, next_slot });
  }
  outbox.wake();
  const act = { by, reason };
  const before = stored === null ? null : scheduleState(stored);
  const name = stored === null ? "schedule_created" : "schedule_updated";
  writeAudits(session, [scheduleChanged(name, spec, act, { before, after: scheduleState(spec) })]);
  return "saved";
}

export function pauseSchedule(
  session: Session,
  name: string,
  { reason, by }: { readonly reason: string; readonly by: string | null },
): boolean {
  const { sql, clock } = session;
  const stored = schedule(session, name);
  if (stored === null) return false;
  sql.run("pause_schedule", { name, reason, by, now: clock.now() });
  const states = { before: { paused: stored.pausedAt !== null }, after: { paused: true } };
  writeAudits(session, [scheduleChanged("schedule_paused", stored, { by, reason }, states)]);
  return true;
}

export function resumeSchedule(
  session: Session,
  name: string,
  firstSlot: FirstSlot,
  act: Act = NO_ACT,
): "resumed" | "not_paused" | "unknown" {
  const { sql, clock, outbox } = session;
  const stored = schedule(session, name);
  if (stored === null) return "unknown";
  if (stored.pausedAt === null) return "not_paused";
  const next_slot = slotAfter(stored, stored, clock.now(), firstSlot);
  sql.run("resume_schedule", { name, next_slot });
  outbox.wake();
  const states = { before: { paused: true }, after: { paused: false } };
  writeAudits(session, [scheduleChanged("schedule_resumed", stored, act, states)]);
  return "resumed";
}

export function removeSchedule(
  session: Session,
  name: string,
  act: Act = NO_ACT,
): "removed" | "unknown" | "owned_by_code" {
  const stored = schedule(session, name);
  if (stored === null) return "unknown";
  if (isDeclared(stored, session.clock.now())) return "owned_by_code";
  deleteSchedule(session, name);
  const before = scheduleState(stored);
  writeAudits(session, [scheduleChanged("schedule_removed", stored, act, { before })]);
  return "removed";
}

function deleteSchedule({ sql }: Session, name: string): void {
  sql.run("delete_schedule", { name });
  sql.run("delete_ticks", { name });
}

function recordOf(row: ScheduleRow): ScheduleRecord {
  const last_job = row.last_job === null ? null : idFromBytes(row.last_job);
  return scheduleRecord({ ...row, last_job });
}
