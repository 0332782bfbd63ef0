/**
 * Opens the database file: finds out what is wrong with a path before SQLite does, because SQLite's
 * own answers ("unable to open database file") teach nobody.
 */
import { accessSync, closeSync, constants, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { wait, type Clock } from "../../../core/clock.ts";
import { MillraceError } from "../../../core/errors.ts";
import { pendingMigrations, requireProtocol, type Migration } from "../../shared/migrations.ts";
import { isBusy, storeError } from "./errors.ts";
import { refuseMoved } from "../copy/write-block.ts";
import { migrations } from "./queries.gen.ts";
import { DatabaseSync } from "./node-sqlite.ts";

/** The first release without a bug that damages a WAL file shared by two connections. */
const SQLITE_OLDEST = [3, 51, 3] as const;
const USER_TABLES =
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'";
/**
 * How long a statement may hold up the loop for a lock; longer waits are the writer's, in the open.
 */
const BUSY_TIMEOUT_MS = 5;
/** Opening waits up to a minute for a lock, as every later write does. */
const OPEN_WAIT_MS = 20;
const OPEN_ROUNDS_MAX = 3_000;

export interface ConnectionOptions {
  readonly path: string;
  /** Allows Millrace's tables beside those of the application. */
  readonly shared: boolean;
}

/** Opens the database, creating the file if need be, and brings its schema up to date. */
export async function openDatabase(
  options: ConnectionOptions,
  clock: Clock,
): Promise<DatabaseSync> {
  requireSqlite(process.versions["sqlite"] ?? "0.0.0");
  const isFile = options.path !== ":memory:";
  if (isFile) checkPath(options.path);
  try {
    const database = new DatabaseSync(options.path, { timeout: BUSY_TIMEOUT_MS });
    try {
      await configure(database, isFile, clock);
      await migrate(database, options, clock);
    } catch (error) {
      database.close();
      throw error;
    }
    return database;
  } catch (error) {
    throw storeError(error, options.path);
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

function checkPath(path: string): void {
  const folder = dirname(resolve(path));
  const folderStat = statSync(folder, { throwIfNoEntry: false });
  if (folderStat === undefined || !folderStat.isDirectory()) {
    throw new MillraceError("STORE_FOLDER_MISSING", `there is no folder ${folder}`, {
      details: { path, folder },
    });
  }
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

async function migrate(
  database: DatabaseSync,
  options: ConnectionOptions,
  clock: Clock,
): Promise<void> {
  const current = await untilFree(clock, () => schemaVersion(database, options));
  if (current > 0) {
    refuseMoved(database);
    requireProtocol(leastProtocol(database));
  }
  if (pendingMigrations(migrations, current).length === 0) return;
  await untilFree(clock, () => database.exec("BEGIN IMMEDIATE"));
  try {
    // Under the lock: another process may have migrated in between.
    for (const { version, sql } of pendingMigrations(
      migrations,
      schemaVersion(database, options),
    )) {
      database.exec(sql);
      database.exec(noteVersion(version));
    }
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** The migrations as scripts that an operator can run, one after the other, to the same effect. */
export function migrationScripts(): readonly Migration[] {
  return migrations.map(({ version, name, sql }) => {
    const parts = ["BEGIN IMMEDIATE;", sql.trimEnd(), `${noteVersion(version)};`, "COMMIT;"];
    return { version, name, sql: `${parts.join("\n")}\n` };
  });
}

function noteVersion(version: number): string {
  return `INSERT OR REPLACE INTO millrace_meta (name, value) VALUES ('schema', '${version}')`;
}

/** The schema version of the file; 0 if it has no tables of Millrace. */
function schemaVersion(database: DatabaseSync, options: ConnectionOptions): number {
  const tables = database
    .prepare(USER_TABLES)
    .all()
    .map((row) => String(row["name"]));
  if (!tables.includes("millrace_meta")) {
    if (tables.length > 0 && !options.shared) {
      throw new MillraceError(
        "STORE_FOREIGN",
        `${options.path} is a database of another application (it has a table ${tables[0]})`,
        { details: { path: options.path, tables: tables.slice(0, 10) } },
      );
    }
    return 0;
  }
  const row = database.prepare("SELECT value FROM millrace_meta WHERE name = 'schema'").get();
  const version = Number(row?.["value"] ?? 0);
  if (Number.isSafeInteger(version)) return version;
  throw new MillraceError("STORE_CORRUPT", `${options.path} has no readable schema version`);
}

function leastProtocol(database: DatabaseSync): number {
  const text = "SELECT value FROM millrace_meta WHERE name = 'min_protocol'";
  return Number(database.prepare(text).get()?.["value"] ?? 0);
}

/** Waits for a lock that another process holds, without holding up the event loop. */
async function untilFree<Answer>(clock: Clock, work: () => Answer): Promise<Answer> {
  for (let round = 0; ; round += 1) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || round >= OPEN_ROUNDS_MAX) throw error;
    }
    await wait(clock, OPEN_WAIT_MS);
  }
}
