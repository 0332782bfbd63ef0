/** The database and the folders of the firms; handlers read them as `ctx.deps`. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Json } from "millrace";
import { inTransaction, openDatabase, rowsOf } from "./database.ts";
import type { FirmPayload } from "./payload-validator.ts";

export interface Practice extends Disposable {
  readonly db: DatabaseSync;
  /** Mailboxes, calendars, documents, the outbox and exports. */
  readonly folder: string;
}

export function openPractice(folder: string): Practice {
  mkdirSync(folder, { recursive: true });
  const db = openDatabase(join(folder, "practice.db"));
  return { db, folder, [Symbol.dispose]: () => db.close() };
}

/**
 * Does the work of a request once. A repeated run, and the reprocessed copy of a job, have the same
 * key in their payload: they get the result of the first run.
 */
export function once<R extends Json>({ db }: Practice, request: FirmPayload, work: () => R): R {
  const { tenant_id: firm, idempotency_key: key } = request;
  return inTransaction(db, () => {
    const [done] = rowsOf<{ result: string }>(
      db,
      "SELECT result FROM done WHERE firm_id = ? AND idempotency_key = ?",
      firm,
      key,
    );
    if (done !== undefined) return JSON.parse(done.result);
    const result = work();
    db.prepare("INSERT INTO done VALUES (?, ?, ?)").run(firm, key, JSON.stringify(result));
    return result;
  });
}

/** Replaces a file as a whole: a reader sees the old content or the new one. */
export function writeWhole(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

/** The folder of a mailbox or calendar of a firm; null: the firm has no such connection. */
export function connectionFolder(practice: Practice, firm: number, id: number): string | null {
  const folder = join(practice.folder, String(firm), "connections", String(id));
  return existsSync(folder) ? folder : null;
}
