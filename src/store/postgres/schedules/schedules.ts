/** declareSchedules, saveSchedule and the other verbs that read or change a schedule. */
import { writeAudits } from "../audit/write.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import { scheduleChanged, scheduleState } from "../../shared/audit/drafts.ts";
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
import { bounded } from "../../shared/limits.ts";
import type {
  DueSchedules,
  FirstSlot,
  SaveAnswer,
  ScheduleChange,
  ScheduleRecord,
  ScheduleSpec,
  TickRecord,
} from "../../types/schedules.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";
import { texts } from "../database/values.ts";

const PAGE_MAX = 1_000;
/** Later than any slot. */
const NEVER = 9_000_000_000_001;

/** In the order of names, in which every process locks them. */
export async function declareSchedules(
  session: Session,
  declared: readonly ScheduleSpec[],
  firstSlot: FirstSlot,
): Promise<readonly string[]> {
  requireDeclared(declared);
  const specs = declared.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  // Of all tries: the answer of one that has committed may be lost.
  const replaced = new Set<string>();
  await repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      for (const spec of specs) {
        const done = await declareOne(transaction, spec, firstSlot);
        if (done === "replaced") replaced.add(spec.name);
      }
      transaction.outbox.wake();
    }),
  );
  await confirmSchedules(
    session,
    specs.map(({ name }) => name),
  );
  return [...replaced];
}

async function declareOne(
  transaction: StoreTransaction,
  spec: ScheduleSpec,
  firstSlot: FirstSlot,
): Promise<"stored" | "replaced"> {
  const columns = scheduleColumns(spec, "code");
  const now = await clockOf(transaction);
  const insert = async (): Promise<boolean> => {
    const row = { ...columns, next_slot: firstSlot(spec, now), created_by: null };
    return (await transaction.run("insert_schedule", row)) > 0;
  };
  if ((await lockedSchedule(transaction, spec.name)) === null && (await insert())) return "stored";
  // Another process may have stored the schedule meanwhile.
  const stored = await lockedSchedule(transaction, spec.name);
  if (stored !== null && isOfAnotherTenant(stored, spec)) {
    await deleteSchedule(transaction, spec.name);
    await insert();
    return "replaced";
  }
  if (stored === null || !differs(stored, spec)) return "stored";
  const next_slot = slotAfterChange(stored, spec, now, firstSlot);
  await transaction.run("update_schedule", { ...columns, next_slot });
  return "stored";
}

export async function confirmSchedules(
  { read, write, dice }: Session,
  names: readonly string[],
): Promise<readonly string[]> {
  requireDeclared(names);
  const list = texts(names);
  await repeating(dice, () => write.run("confirm_schedules", { names: list }));
  const missing = await read.all("list_missing_schedules", { names: list });
  return missing.map(({ name }) => name);
}

export async function dueSchedules(
  { read }: Session,
  declared: readonly string[],
  limit: number,
): Promise<DueSchedules> {
  requireDeclared(declared);
  const rows = await read.all("list_due_schedules", {
    declared: texts(declared),
    limit: bounded(limit, PAGE_MAX) + 1,
  });
  const due = rows.slice(0, limit).filter(({ next_slot: slot, now }) => slot <= now);
  const next = rows[due.length];
  const nextMs = next === undefined ? null : Math.max(0, next.next_slot - next.now);
  return { names: due.map(({ name }) => name), nextMs };
}

export async function schedules(
  { read }: Session,
  { tenant }: { readonly tenant?: string },
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<readonly ScheduleRecord[]> {
  const rows = await read.all("list_schedules", {
    after: after ?? "",
    tenant: tenant ?? null,
    limit: bounded(limit, PAGE_MAX),
  });
  return rows.map(scheduleRecord);
}

export async function schedule({ read }: Session, name: string): Promise<ScheduleRecord | null> {
  return scheduleIn(read, name);
}

async function scheduleIn(sql: Sql, name: string): Promise<ScheduleRecord | null> {
  const row = await sql.get("find_schedule", { name });
  return row === undefined ? null : scheduleRecord(row);
}

/** Read by a statement of its own, which sees what the holder of the lock has committed. */
export async function lockedSchedule(
  transaction: StoreTransaction,
  name: string,
): Promise<ScheduleRecord | null> {
  const locked = await transaction.get("lock_schedule", { name });
  return locked === undefined ? null : scheduleIn(transaction, name);
}

export async function clockOf(sql: Sql): Promise<number> {
  const row = await sql.get("read_clock", {});
  if (row === undefined) throw new Error("read_clock returned no row");
  return row.now;
}

export async function scheduleTicks(
  { read }: Session,
  name: string,
  { before, limit }: { readonly before?: number; readonly limit: number },
): Promise<readonly TickRecord[]> {
  const page = { name, before: before ?? NEVER, limit: bounded(limit, PAGE_MAX) };
  return (await read.all("list_ticks", page)).map(tickRecord);
}

export async function saveSchedule(
  session: Session,
  spec: ScheduleSpec,
  change: ScheduleChange,
  firstSlot: FirstSlot,
): Promise<SaveAnswer> {
  return repeating(session.dice, async (isRepeat) => {
    const answer = await session.transaction((transaction) =>
      saveWithin(transaction, spec, change, firstSlot),
    );
    if (!isRepeat || (answer !== "exists" && answer !== "outdated")) return answer;
    // After a lost answer, the same schedule was stored by the first try.
    const stored = await schedule(session, spec.name);
    const isOwn = stored !== null && !differs({ ...stored, owner: "code" }, spec);
    return isOwn ? "saved" : answer;
  });
}

async function saveWithin(
  transaction: StoreTransaction,
  spec: ScheduleSpec,
  change: ScheduleChange,
  firstSlot: FirstSlot,
): Promise<SaveAnswer> {
  const { revision, by, reason = null } = change;
  const stored = await lockedSchedule(transaction, spec.name);
  const now = await clockOf(transaction);
  const columns = scheduleColumns(spec, "operator");
  if (revision === null) {
    if (stored !== null) return stored.owner === "code" ? "owned_by_code" : "exists";
    await transaction.get("lock_new_schedules", {});
    const counts = await transaction.get("count_schedules", { tenant: spec.job.tenant });
    const refused = counts === undefined ? null : refusedByCount(counts, change);
    if (refused !== null) return refused;
    const next_slot = firstSlot(spec, now);
    const made = await transaction.run("insert_schedule", {
      ...columns,
      next_slot,
      created_by: by,
    });
    if (made === 0) return "exists";
  } else {
    if (stored === null) return "unknown";
    if (stored.owner === "code") return "owned_by_code";
    if (stored.revision !== revision) return "outdated";
    const next_slot = slotAfterChange(stored, spec, now, firstSlot);
    await transaction.run("update_schedule", { ...columns, next_slot });
  }
  transaction.outbox.wake();
  const act = { by, reason };
  const before = stored === null ? null : scheduleState(stored);
  const name = stored === null ? "schedule_created" : "schedule_updated";
  const draft = scheduleChanged(name, spec, act, { before, after: scheduleState(spec) });
  await writeAudits(transaction, [draft]);
  return "saved";
}

export async function pauseSchedule(
  session: Session,
  name: string,
  { reason, by }: { readonly reason: string; readonly by: string | null },
): Promise<boolean> {
  return repeating(session.dice, (isRepeat) =>
    session.transaction(async (transaction) => {
      const stored = await lockedSchedule(transaction, name);
      if (stored === null) return false;
      await transaction.run("pause_schedule", { name, reason, by });
      const states = { before: { paused: stored.pausedAt !== null }, after: { paused: true } };
      const draft = scheduleChanged("schedule_paused", stored, { by, reason }, states);
      await writeAudits(transaction, [draft], isRepeat);
      return true;
    }),
  );
}

export async function resumeSchedule(
  session: Session,
  name: string,
  firstSlot: FirstSlot,
  act: Act = NO_ACT,
): Promise<"resumed" | "not_paused" | "unknown"> {
  return repeating(session.dice, async (isRepeat) => {
    const answer = await session.transaction(async (transaction) => {
      const stored = await lockedSchedule(transaction, name);
      if (stored === null) return "unknown";
      if (stored.pausedAt === null) return "not_paused";
      const next_slot = slotAfter(stored, stored, await clockOf(transaction), firstSlot);
      await transaction.run("resume_schedule", { name, next_slot });
      transaction.outbox.wake();
      const states = { before: { paused: true }, after: { paused: false } };
      await writeAudits(transaction, [scheduleChanged("schedule_resumed", stored, act, states)]);
      return "resumed";
    });
    // After a lost answer, the pause was ended by the first try.
    return isRepeat && answer === "not_paused" ? "resumed" : answer;
  });
}

export async function removeSchedule(
  session: Session,
  name: string,
  act: Act = NO_ACT,
): Promise<"removed" | "unknown" | "owned_by_code"> {
  return repeating(session.dice, async (isRepeat) => {
    const answer = await session.transaction(async (transaction) => {
      const stored = await lockedSchedule(transaction, name);
      if (stored === null) return "unknown";
      if (isDeclared(stored, await clockOf(transaction))) return "owned_by_code";
      await deleteSchedule(transaction, name);
      const before = scheduleState(stored);
      await writeAudits(transaction, [
        scheduleChanged("schedule_removed", stored, act, { before }),
      ]);
      return "removed";
    });
    return isRepeat && answer === "unknown" ? "removed" : answer;
  });
}

async function deleteSchedule(transaction: StoreTransaction, name: string): Promise<void> {
  await transaction.run("delete_schedule", { name });
  await transaction.run("delete_ticks", { name });
}
