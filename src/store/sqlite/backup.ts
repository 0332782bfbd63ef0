/** backup: a copy of the living database, made beside running writers. */
import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { backup as copyPages, DatabaseSync } from "node:sqlite";
import { MillraceError } from "../../core/errors.ts";
import { storeError } from "./errors.ts";

/** More pages than any file has: SQLite starts over when others write between two steps. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * Copies the database at `path` into the new file `file`, checks the copy, and removes it if it is
 * not whole. The copy is one step on a connection of its own, done by Node's thread pool, so that
 * neither the event loop nor other writers wait for it.
 */
export async function backup(database: DatabaseSync, path: string, file: string): Promise<void> {
  createTarget(file);
  try {
    await copy(database, path, file);
    finish(file);
  } catch (error) {
    for (const side of ["", "-wal", "-shm", "-journal"]) rmSync(file + side, { force: true });
    throw storeError(error, file);
  }
}

async function copy(database: DatabaseSync, path: string, file: string): Promise<void> {
  if (path === ":memory:") {
    await copyPages(database, file, { rate: ALL_PAGES });
    return;
  }
  const source = new DatabaseSync(path, { readOnly: true });
  try {
    await copyPages(source, file, { rate: ALL_PAGES });
  } finally {
    source.close();
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

/** One file without companions, checked and synced, its name included. */
function finish(file: string): void {
  const made = new DatabaseSync(file);
  try {
    made.exec("PRAGMA journal_mode = DELETE");
    const verdict = made.prepare("PRAGMA quick_check").get()?.["quick_check"];
    if (verdict !== "ok") {
      throw new MillraceError("STORE_CORRUPT", `the copy ${file} is damaged: ${String(verdict)}`);
    }
  } finally {
    made.close();
  }
  for (const path of [file, dirname(resolve(file))]) sync(path);
}

function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
