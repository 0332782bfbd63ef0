/** backup: copies the open database while writers run. */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  rmSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { MillraceError } from "../../core/errors.ts";
import { folderOf } from "./database/connection.ts";
import { storeError } from "./database/errors.ts";
import { backup as copyPages, DatabaseSync } from "./database/node-sqlite.ts";

/** More pages than any file has: one step, because SQLite restarts after a write between steps. */
const ALL_PAGES = 2 ** 31 - 1;
/** The suffixes of a database file and its companions. */
const SIDES = ["", "-wal", "-shm", "-journal"];

/** The copies in progress in this process, by absolute path. */
const underway = new Set<string>();

/**
 * Copies the database at `path` into the new file `file`. The copy has the suffix `.part` until it
 * is checked and synced, so that a process that dies leaves no incomplete backup. The copy is one
 * step on a connection of its own, run by Node's thread pool, so that neither the event loop nor
 * other writers wait.
 */
export async function backup(database: DatabaseSync, path: string, file: string): Promise<void> {
  const name = resolve(file);
  if (underway.has(name)) throw existsError(file);
  underway.add(name);
  try {
    await makeAndPublish(database, path, file);
  } finally {
    underway.delete(name);
  }
}

async function makeAndPublish(database: DatabaseSync, path: string, file: string): Promise<void> {
  const part = `${file}.part`;
  const descriptor = createPart(part, path, file);
  try {
    await copy(database, path, part);
    check(part);
    fsyncSync(descriptor);
    if (!isNameOf(part, descriptor)) throw existsError(file);
    publish(part, file, descriptor);
  } catch (error) {
    discard(part, descriptor);
    throw failure(error, file);
  } finally {
    closeSync(descriptor);
  }
}

/** Creates the part file. Replaces a part file that a dead process left, with its journal. */
function createPart(part: string, path: string, file: string): number {
  folderOf(file);
  try {
    if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) throw existsError(file);
    if (isSameFile(part, path)) throw existsError(part);
    for (const side of SIDES) rmSync(part + side, { force: true });
    return openSync(part, "wx", 0o600);
  } catch (cause) {
    if (cause instanceof MillraceError) throw cause;
    const message = `${part} cannot be created`;
    throw new MillraceError("STORE_READ_ONLY", message, { cause, details: { file } });
  }
}

/** True if the database itself has the name of the part file. */
function isSameFile(part: string, path: string): boolean {
  const [left, right] = [part, path].map((each) => statSync(each, { throwIfNoEntry: false }));
  return left !== undefined && left.ino === right?.ino && left.dev === right.dev;
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

/** Checks that the copy is sound and not empty, and turns it into a single file. */
function check(part: string): void {
  const made = new DatabaseSync(part);
  try {
    made.exec("PRAGMA journal_mode = DELETE");
    const verdict = made.prepare("PRAGMA quick_check").get()?.["quick_check"];
    const pages = made.prepare("PRAGMA page_count").get()?.["page_count"];
    if (verdict !== "ok" || pages === 0) {
      const reason = pages === 0 ? "it is empty" : String(verdict);
      throw new MillraceError("STORE_CORRUPT", `the copy ${part} is damaged: ${reason}`);
    }
  } finally {
    made.close();
  }
}

function isNameOf(path: string, descriptor: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(descriptor).ino;
}

/** Gives the checked copy its name. Unlike a rename, a link never replaces a file. */
function publish(part: string, file: string, descriptor: number): void {
  try {
    linkSync(part, file);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") {
      throw existsError(file, cause);
    }
    throw cause;
  }
  try {
    unlinkSync(part);
    syncFolder(dirname(resolve(file)));
  } catch (error) {
    discard(file, descriptor);
    throw error;
  }
}

function syncFolder(folder: string): void {
  // Windows cannot open folders; it syncs names by itself.
  if (process.platform === "win32") return;
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Removes the copy, unless another process has replaced the file. Errors are ignored, so that the
 * caller gets the error that made the backup fail.
 */
function discard(path: string, descriptor: number): void {
  try {
    if (!isNameOf(path, descriptor)) return;
    for (const side of SIDES) rmSync(path + side, { force: true });
  } catch {
    return;
  }
}

function existsError(file: string, cause?: unknown): MillraceError {
  const message = `${file} already exists or is being made`;
  return new MillraceError("BACKUP_EXISTS", message, { cause, details: { file } });
}

/** An error of SQLite or of the system as a MillraceError. */
function failure(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return storeError(error, file);
  const message = `the backup could not be finished (${file}: ${error.message})`;
  return new MillraceError("STORE_FAILED", message, { cause: error, details: { path: file } });
}
