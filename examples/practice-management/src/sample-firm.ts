/** A firm with a mailbox, a calendar, documents and people. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Millrace } from "millrace";
import { issueToken, type FirmUser } from "./gates.ts";
import { writeWhole, type Practice } from "./practice.ts";

/** The connection that every sample firm has. */
export const CONNECTION = 456;

/** Adds a firm. Its rows have the number of the firm, followed by their own. */
export function addFirm(practice: Practice, firm: number, name: string): void {
  const { db } = practice;
  const insert = (table: string, ...values: (string | number | null)[]): void => {
    const places = values.map(() => "?").join(", ");
    db.prepare(`INSERT INTO ${table} VALUES (${places})`).run(...values);
  };
  insert("firm", firm, name);
  insert("client", firm, "ada@example.com", "Ada");
  insert("appointment", firm, "hearing", "Hearing", "2026-02-03T09:00:00Z");
  insert("recurrence", firm * 10 + 1, firm, "Payroll", "2025-12", 3);
  insert("document", firm * 10 + 1, firm, "invoice.txt", null, null);
  insert("notification", firm * 10 + 1, firm, "ada@example.com", "Your papers are ready", 0);
  insert("session", firm * 10 + 1, firm, "2025-01-01T00:00:00Z");
  insert("session", firm * 10 + 2, firm, "2027-01-01T00:00:00Z");
  insert("matter", firm * 10 + 1, firm, "Estate", "2019-06-30T00:00:00Z", 0);
  insert("matter", firm * 10 + 2, firm, "Merger", null, 0);
  addMessage(practice, firm, "msg_789");
  const calendar = { lunch: { title: "Lunch", starts_at: "2026-02-03T12:00:00Z" } };
  writeWhole(inConnection(practice, firm, "calendar.json"), JSON.stringify(calendar));
  const invoice = join(practice.folder, String(firm), "documents", "invoice.txt");
  writeWhole(invoice, "Invoice 17. Amount due: 80.\n");
}

export function addMessage(
  practice: Practice,
  firm: number,
  id: string,
  connection = CONNECTION,
): void {
  const mail = "From: ada@example.com\nSubject: My papers\n\nHere they are.\n";
  writeWhole(inConnection(practice, firm, `${id}.eml`, connection), mail);
}

/** From now on the mail server is `offline`, or `busy`. */
export function closeMailbox(practice: Practice, firm: number, how: "offline" | "busy"): void {
  writeFileSync(inConnection(practice, firm, how), "");
}

export function openMailbox(practice: Practice, firm: number, how: "offline" | "busy"): void {
  rmSync(inConnection(practice, firm, how));
}

/** Adds a user and answers a bearer token. */
export async function addUser(mill: Millrace, { db }: Practice, user: FirmUser): Promise<string> {
  const { firm, name, isStaff, role } = user;
  db.prepare("INSERT INTO firm_user (firm_id, name, is_staff, role) VALUES (?, ?, ?, ?)").run(
    firm,
    name,
    isStaff ? 1 : 0,
    role,
  );
  return issueToken(mill, user);
}

function inConnection(
  { folder }: Practice,
  firm: number,
  file: string,
  connection = CONNECTION,
): string {
  return join(folder, String(firm), "connections", String(connection), file);
}
