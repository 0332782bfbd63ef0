/** The end of a firm, and the tidying of its records. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { rowsOf } from "./database.ts";
import type { FirmPayload } from "./payload-validator.ts";
import { writeWhole, type Practice } from "./practice.ts";

export type ExportRef = FirmPayload & { readonly export_id: number };
export type PurgeRef = FirmPayload & { readonly purge_id: number };
export type BeforeRef = FirmPayload & { readonly before: string };

/** The tables with the records of a firm, those that refer to others first. */
const TABLES = [
  "client",
  "email",
  "appointment",
  "recurrence",
  "task",
  "execution_step",
  "document",
  "notification",
  "session",
  "matter",
] as const;

/** Writes all records of a firm into one file. */
export function exportFirm({ db, folder }: Practice, ref: ExportRef): { file: string } {
  const firm = ref.tenant_id;
  const tables = TABLES.map(
    (table) => [table, rowsOf(db, `SELECT * FROM ${table} WHERE firm_id = ?`, firm)] as const,
  );
  const file = `export-${ref.export_id}.json`;
  const content = JSON.stringify(Object.fromEntries(tables), null, 2);
  writeWhole(join(folder, String(firm), "exports", file), content);
  return { file };
}

/** Removes all records and files of a firm. Its users and its jobs stay. */
export function purgeFirm({ db, folder }: Practice, ref: PurgeRef): { purged: number } {
  const firm = ref.tenant_id;
  const changes = TABLES.map(
    (table) => db.prepare(`DELETE FROM ${table} WHERE firm_id = ?`).run(firm).changes,
  );
  rmSync(join(folder, String(firm)), { recursive: true, force: true });
  return { purged: changes.reduce<number>((sum, each) => sum + Number(each), 0) };
}

export function expireSessions({ db }: Practice, ref: BeforeRef): { expired: number } {
  const { changes } = db
    .prepare("DELETE FROM session WHERE firm_id = ? AND expires_at < ?")
    .run(ref.tenant_id, ref.before);
  return { expired: Number(changes) };
}

export function archiveMatters({ db }: Practice, ref: BeforeRef): { archived: number } {
  const { changes } = db
    .prepare("UPDATE matter SET archived = 1 WHERE firm_id = ? AND closed_at < ? AND archived = 0")
    .run(ref.tenant_id, ref.before);
  return { archived: Number(changes) };
}
