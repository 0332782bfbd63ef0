/** The schema of a database file: its version, its owner and its migrations. */
import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../../core/clock.ts";
import { MillraceError } from "../../../core/errors.ts";
import { pendingMigrations, requireProtocol, type Migration } from "../../shared/migrations.ts";
import { refuseMoved } from "../copy/write-block.ts";
import { untilFree } from "./connection.ts";
import { migrations } from "./migrations.gen.ts";

const USER_TABLES =
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'";

export interface MigrateOptions {
  readonly path: string;
  /** Allows Millrace's tables beside those of the application. */
  readonly shared: boolean;
}

/** Brings the schema up to date. Refuses a file of another application or of a newer release. */
export async function migrate(
  database: DatabaseSync,
  options: MigrateOptions,
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
function schemaVersion(database: DatabaseSync, options: MigrateOptions): number {
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
