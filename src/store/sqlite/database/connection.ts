/**
 * Opens the database file: finds out what is wrong with a path before SQLite does, because SQLite's
 * own answers ("unable to open database file") do not name the cause.
 */
import { accessSync, closeSync, constants, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { wait, type Clock } from "../../../core/clock.ts";
import { MillraceError } from "../../../core/errors.ts";
import { isBusy, storeError } from "./errors.ts";
import { DatabaseSync } from "./node-sqlite.ts";

/** The first release without a bug that damages a WAL file shared by two connections. */
const SQLITE_OLDEST = [3, 51, 3] as const;
/**
 * How long a statement may hold up the loop for a lock; longer waits are the writer's, in the open.
 */
const BUSY_TIMEOUT_MS = 5;
/** Opening waits up to a minute for a lock, as every later write does. */
const OPEN_WAIT_MS = 20;
const OPEN_ROUNDS_MAX = 3_000;

/** Opens the database, creating the file if need be. `prepare` updates the schema then. */
export async function connect(
  path: string,
  clock: Clock,
  prepare: (database: DatabaseSync) => Promise<void>,
): Promise<DatabaseSync> {
  requireSqlite(process.versions["sqlite"] ?? "0.0.0");
  const isFile = path !== ":memory:";
  if (isFile) checkPath(path);
  try {
    const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      await configure(database, isFile, clock);
      await prepare(database);
    } catch (error) {
      database.close();
      throw error;
    }
    return database;
  } catch (error) {
    throw storeError(error, path);
  }
}

/** Refuses a SQLite that can damage the file. */
export function requireSqlite(version: string): void {
  const parts = version.split(".").map(Number);
  for (const [index, wanted] of SQLITE_OLDEST.entries()) {
    const found = parts[index] ?? 0;
    if (found > wanted) return;
    if (found === wanted) continue;
    throw new MillraceError(
      "SQLITE_TOO_OLD",
      `this Node.js carries SQLite ${version}; Millrace needs ${SQLITE_OLDEST.join(".")} or newer`,
      { details: { found: version, needed: SQLITE_OLDEST.join(".") } },
    );
  }
}

/** The folder in which a file is, or is to be made. Throws STORE_FOLDER_MISSING. */
export function folderOf(path: string): string {
  const folder = dirname(resolve(path));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new MillraceError("STORE_FOLDER_MISSING", `there is no folder ${folder}`, {
    details: { path, folder },
  });
}

function checkPath(path: string): void {
  const folder = folderOf(path);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) {
    throw new MillraceError("STORE_IS_FOLDER", `${path} is a folder, not a database file`, {
      details: { path },
    });
  }
  // SQLite keeps two more files beside the database, so the folder must be writable as well.
  requireAccess(folder, constants.W_OK, "STORE_READ_ONLY", `the folder ${folder} is not writable`);
  if (stat === undefined) {
    createPrivately(path);
    return;
  }
  requireAccess(path, constants.R_OK, "STORE_UNREADABLE", `${path} is not readable`);
  requireAccess(path, constants.W_OK, "STORE_READ_ONLY", `${path} is not writable`);
}

function requireAccess(
  path: string,
  mode: number,
  code: "STORE_READ_ONLY" | "STORE_UNREADABLE",
  message: string,
): void {
  try {
    accessSync(path, mode);
  } catch (cause) {
    throw new MillraceError(code, message, { cause, details: { path } });
  }
}

/**
 * Payloads may be confidential: only the owner reads them. SQLite's side files take the same mode.
 */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    // Another process was faster: its file serves. A link to nowhere "exists" as well.
    const exists = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (exists && statSync(path, { throwIfNoEntry: false }) !== undefined) return;
    const why = exists ? "is a link to a file that does not exist" : "cannot be created";
    throw new MillraceError("STORE_READ_ONLY", `${path} ${why}`, {
      cause: error,
      details: { path },
    });
  }
}

async function configure(database: DatabaseSync, isFile: boolean, clock: Clock): Promise<void> {
  // Two processes that open a new file at once meet here; the second waits its turn.
  await untilFree(clock, () => database.exec("PRAGMA journal_mode = WAL"));
  database.exec(`
    PRAGMA synchronous = FULL;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -16000;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA trusted_schema = OFF;
  `);
  const mode = database.prepare("PRAGMA journal_mode").get()?.["journal_mode"];
  if (isFile && mode !== "wal") {
    throw new MillraceError(
      "STORE_FAILED",
      `the file system of the database does not allow write-ahead logging (${String(mode)})`,
    );
  }
}

/** Waits for a lock that another process holds, without holding up the event loop. */
export async function untilFree<Answer>(clock: Clock, work: () => Answer): Promise<Answer> {
  for (let round = 0; ; round += 1) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || round >= OPEN_ROUNDS_MAX) throw error;
    }
    await wait(clock, OPEN_WAIT_MS);
  }
}
