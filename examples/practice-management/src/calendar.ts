/** Calendars of the firm's people, and work that comes back every month. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NonRetryableError } from "millrace";
import { rowsOf } from "./database.ts";
import type { FirmPayload } from "./payload-validator.ts";
import { connectionFolder, writeWhole, type Practice } from "./practice.ts";

export type CalendarRef = FirmPayload & { readonly connection_id: number };
export type AppointmentRef = CalendarRef & { readonly appointment_id: string };
export type RecurrenceRef = FirmPayload & { readonly recurrence_id: number };
export type PeriodRef = RecurrenceRef & { readonly period: string };

interface Appointment {
  readonly title: string;
  readonly starts_at: string;
}

type Calendar = Readonly<Record<string, Appointment>>;

/** Takes over what stands in the calendar. */
export function pullCalendar(practice: Practice, ref: CalendarRef): { pulled: number } {
  const entries = Object.entries(calendarOf(practice, ref));
  const upsert = practice.db.prepare(
    `INSERT INTO appointment VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET title = excluded.title, starts_at = excluded.starts_at`,
  );
  for (const [id, { title, starts_at: start }] of entries) {
    upsert.run(ref.tenant_id, id, title, start);
  }
  return { pulled: entries.length };
}

/** Writes one appointment of the firm into the calendar. */
export function pushAppointment(practice: Practice, ref: AppointmentRef): { pushed: string } {
  const id = ref.appointment_id;
  const [found] = rowsOf<Appointment>(
    practice.db,
    "SELECT title, starts_at FROM appointment WHERE firm_id = ? AND appointment_id = ?",
    ref.tenant_id,
    id,
  );
  if (found === undefined) throw new NonRetryableError(`there is no appointment ${id}`);
  const calendar = { ...calendarOf(practice, ref), [id]: { ...found } };
  writeWhole(calendarFile(practice, ref), JSON.stringify(calendar));
  return { pushed: id };
}

function calendarOf(practice: Practice, ref: CalendarRef): Calendar {
  return JSON.parse(readFileSync(calendarFile(practice, ref), "utf8"));
}

function calendarFile(practice: Practice, { tenant_id: firm, connection_id: id }: CalendarRef) {
  const folder = connectionFolder(practice, firm, id);
  if (folder === null) throw new NonRetryableError(`there is no connection ${id}`);
  return join(folder, "calendar.json");
}

/** The months of a recurrence, such as `2026-01`. Each becomes a job of its own. */
export function generatePeriods(practice: Practice, ref: RecurrenceRef): string[] {
  const { first_month: first, months } = recurrenceOf(practice, ref);
  const [year = 0, month = 0] = first.split("-").map(Number);
  return Array.from({ length: months }, (_, index) =>
    new Date(Date.UTC(year, month - 1 + index, 1)).toISOString().slice(0, 7),
  );
}

export function createWork(practice: Practice, ref: PeriodRef): { title: string } {
  const title = `${recurrenceOf(practice, ref).title} ${ref.period}`;
  practice.db
    .prepare("INSERT INTO task VALUES (?, ?, ?, ?)")
    .run(ref.tenant_id, ref.recurrence_id, ref.period, title);
  return { title };
}

function recurrenceOf(
  { db }: Practice,
  { tenant_id: firm, recurrence_id: id }: RecurrenceRef,
): { title: string; first_month: string; months: number } {
  const [found] = rowsOf<{ title: string; first_month: string; months: number }>(
    db,
    "SELECT title, first_month, months FROM recurrence WHERE firm_id = ? AND id = ?",
    firm,
    id,
  );
  if (found === undefined) throw new NonRetryableError(`there is no recurrence ${id}`);
  return found;
}
