/** backup: a copy of the living database, made step by step beside running writers. */
import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import { backup as copyPages, DatabaseSync } from "node:sqlite";
import { MillraceError } from "../../core/errors.ts";
import { storeError } from "./errors.ts";

/** Pages per step; between steps the event loop and other writers go on. */
const PAGES_PER_STEP = 500;

/**
 * Copies `database` into the new file `file`, checks the copy, and removes it if it is not whole.
 */
export async function backup(database: DatabaseSync, file: string): Promise<void> {
  createTarget(file);
  try {
    await copyPages(database, file, { rate: PAGES_PER_STEP });
    checkCopy(file);
    sync(file);
  } catch (error) {
    rmSync(file, { force: true });
    throw storeError(error, file);
  }
}

function createTarget(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (cause) {
    const exists = cause instanceof Error && "code" in cause && cause.code === "EEXIST";
    const code = exists ? "BACKUP_EXISTS" : "STORE_READ_ONLY";
    const message = exists ? `${file} already exists` : `${file} cannot be created`;
    throw new MillraceError(code, message, { cause, details: { file } });
  }
}

function checkCopy(file: string): void {
  const copy = new DatabaseSync(file, { readOnly: true });
  try {
    const verdict = copy.prepare("PRAGMA quick_check").get()?.["quick_check"];
    if (verdict === "ok") return;
    throw new MillraceError("STORE_CORRUPT", `the copy ${file} is damaged: ${String(verdict)}`);
  } finally {
    copy.close();
  }
}

function sync(file: string): void {
  const descriptor = openSync(file, "r+");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
