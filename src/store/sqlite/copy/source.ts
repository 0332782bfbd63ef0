/**
 * A SQLite file as the source of a copy. It is read on a read-only connection, batch by batch, so
 * that no long read delays WAL checkpoints of running workers.
 */
import { existsSync, realpathSync } from "node:fs";
import type { SQLInputValue } from "node:sqlite";
import { MillraceError } from "../../../core/errors.ts";
import { idBytes, parseId } from "../../../core/ids.ts";
import type { CopiedTable } from "../../shared/copy/tables.ts";
import type { RowBatch, CopySource, Counters, RowKey } from "../../shared/copy/ends.ts";
import { newerError, newestOf } from "../../shared/migrations.ts";
import { requireSqlite } from "../database/connection.ts";
import { storeError } from "../database/errors.ts";
import { readMoveRecord, unblockWrites } from "./write-block.ts";
import { makeSqliteStore } from "../create.ts";
import { migrations } from "../database/migrations.gen.ts";
import { DatabaseSync } from "../database/node-sqlite.ts";

/** The maximum of rows, and of characters in their lines, per transaction of the target. */
const BATCH_ROWS_MAX = 2_000;
const BATCH_LETTERS_MAX = 4_000_000;
/** The number of keys compared at once. */
const KEYS_MAX = 5_000;
/** How long a lock of another process is waited for. */
const BUSY_MS_MAX = 10_000;

/** Opens a file that exists and has the newest schema. Writes nothing. */
export function openCopySource(path: string): CopySource {
  requireSqlite(process.versions["sqlite"] ?? "0.0.0");
  if (!existsSync(path)) {
    throw new MillraceError("OPTION_INVALID", `there is no store at ${path} to copy`);
  }
  const place = realpathSync(path);
  try {
    const database = new DatabaseSync(place, { readOnly: true, timeout: BUSY_MS_MAX });
    try {
      checkVersion(database, path);
    } catch (error) {
      database.close();
      throw error;
    }
    return sourceOf(database, place);
  } catch (error) {
    throw storeError(error, path);
  }
}

function checkVersion(database: DatabaseSync, path: string): void {
  const tables = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'millrace_meta'");
  if (tables.get() === undefined) {
    throw new MillraceError("STORE_FOREIGN", `${path} has no tables of Millrace`);
  }
  const found = database.prepare("SELECT value FROM millrace_meta WHERE name = 'schema'").get();
  const [version, newest] = [Number(found?.["value"] ?? 0), newestOf(migrations)];
  if (version > newest) throw newerError(migrations, version);
  if (version === newest) return;
  const message = `${path} has schema version ${version}, and ${newest} is needed`;
  throw new MillraceError("STORE_OLDER", message, { details: { found: version, newest } });
}

function sourceOf(database: DatabaseSync, place: string): CopySource {
  const ask = (text: string, ...values: SQLInputValue[]): number =>
    Number(database.prepare(text).get(...values)?.["answer"] ?? 0);
  return {
    place,
    bytes: ask("SELECT page_count * page_size AS answer FROM pragma_page_count, pragma_page_size"),
    count: (table) => ask(`SELECT count(*) AS answer FROM ${relationOf(table)}`),
    problems: (table) => problemsOf(database, table),
    batch: (table, after) => batchOf(database, table, after),
    keys: (table, after) => keysOf(database, table, after),
    counters: () => countersOf(ask),
    moveRecord: () => readMoveRecord(database),
    blockWrites: async (moveRecord, decide) => {
      const store = makeSqliteStore({ path: place });
      await store.open();
      try {
        return await store.blockWrites(moveRecord, decide);
      } finally {
        await store.close();
      }
    },
    unblockWrites: () => unblock(place),
    close: () => database.close(),
  };
}

/** Opens the file itself, because the store refuses a moved file. */
function unblock(place: string): void {
  const database = new DatabaseSync(place, { timeout: BUSY_MS_MAX });
  try {
    unblockWrites(database);
  } finally {
    database.close();
  }
}

function batchOf(database: DatabaseSync, table: CopiedTable, after: RowKey | null): RowBatch {
  const columns = Object.keys(table.columns).map(
    (name) => `${expressionOf(table, name)} AS "${name}"`,
  );
  const rows = walk(database, table, after, columns.join(", "), BATCH_ROWS_MAX);
  const [lines, keys]: [string[], string[]] = [[], []];
  let [letters, last] = [0, after];
  for (const row of rows) {
    if (letters > BATCH_LETTERS_MAX) return { lines, keys, after, upTo: last };
    const line = JSON.stringify(canonical(table, row));
    lines.push(line);
    letters += line.length;
    last = keyOf(table, row);
    keys.push(last.join("."));
  }
  return { lines, keys, after, upTo: lines.length < BATCH_ROWS_MAX ? null : last };
}

function keysOf(
  database: DatabaseSync,
  table: CopiedTable,
  after: RowKey | null,
): ReturnType<CopySource["keys"]> {
  const columns = table.key.map((name) => `place."${name}"`).join(", ");
  const keys = [...walk(database, table, after, columns, KEYS_MAX)].map((row) => keyOf(table, row));
  const text = keys.map((key) => key.join(".")).join();
  return { text, after, upTo: keys.length < KEYS_MAX ? null : (keys.at(-1) ?? null) };
}

type CopyRow = Record<string, string | number | null>;

function walk(
  database: DatabaseSync,
  table: CopiedTable,
  after: RowKey | null,
  columns: string,
  limit: number,
): Iterable<CopyRow> {
  const key = table.key.map((name) => `place."${name}"`).join(", ");
  const given = table.key.map((name) => (table.columns[name] === "id" ? "unhex(?)" : "?")).join();
  const from = after === null ? "" : `WHERE (${key}) > (${given})`;
  const text = `SELECT ${columns} FROM ${relationOf(table)} AS place ${from}
                ORDER BY ${key} LIMIT ${limit}`;
  const rows: Iterable<any> = database.prepare(text).iterate(...(after ?? []));
  return rows;
}

function keyOf(table: CopiedTable, row: CopyRow): RowKey {
  return table.key.map((name) => row[name] ?? 0);
}

/** Converts lists of ids, which SQLite stores as texts, to the form of PostgreSQL. */
function canonical(table: CopiedTable, row: CopyRow): CopyRow {
  if (table.columns["ids"] !== "ids" || row["ids"] === null) return row;
  const ids: string[] = JSON.parse(String(row["ids"]));
  return { ...row, ids: `{${ids.map(hexOf).join()}}` };
}

function hexOf(text: string): string {
  const id = parseId(text);
  if (id === null) throw new MillraceError("STORE_CORRUPT", `the feed names a job “${text}”`);
  return Buffer.from(idBytes(id)).toString("hex");
}

function expressionOf({ columns }: CopiedTable, name: string): string {
  const column = `place."${name}"`;
  const kind = columns[name];
  if (kind === "keys") return `replace(replace(${column}, '[', '{'), ']', '}')`;
  if (kind !== "id" && kind !== "bytes") return column;
  return `iif(${column} IS NULL, NULL, lower(hex(${column})))`;
}

/**
 * The table or subquery to read. Every installation already has the name with id 1. Successors that
 * are not final are computed, because SQLite has no table for them.
 */
function relationOf({ name }: CopiedTable): string {
  if (name === "interned_name") return "(SELECT * FROM millrace_interned_name WHERE id > 1)";
  if (name !== "successor") return `millrace_${name}`;
  const parts = [
    [1, 8],
    [9, 4],
    [13, 4],
    [17, 4],
    [21, 12],
  ] as const;
  const uuid = parts.map(([start, size]) => `substr(hex(retry_of), ${start}, ${size})`);
  return `(SELECT 0 AS tenant, 0 AS type, lower(${uuid.join(" || '-' || ")}) AS key, key AS job
           FROM millrace_job_now WHERE retry_of IS NOT NULL AND state < 4)`;
}

/** SQLite keeps the highest number of each sequence, also of deleted rows. */
function countersOf(ask: (text: string, ...values: SQLInputValue[]) => number): Counters {
  const given = "SELECT seq AS answer FROM sqlite_sequence WHERE name = ?";
  return {
    job: ask(given, "millrace_job"),
    lease: ask(given, "millrace_lease"),
    event: ask(given, "millrace_event"),
    name: ask("SELECT max(id) AS answer FROM millrace_interned_name"),
    audit: ask(given, "millrace_audit"),
  };
}

/** Values that PostgreSQL refuses: texts with U+0000, and invalid JSON. */
function problemsOf(database: DatabaseSync, table: CopiedTable): string[] {
  return Object.entries(table.columns).flatMap(([name, kind]) => {
    if (kind !== "text" && kind !== "json") return [];
    const column = `place."${name}"`;
    const test = kind === "json" ? `NOT json_valid(${column})` : `instr(${column}, char(0)) > 0`;
    const key = table.key.map((part) => `'${part} ' || ${expressionOf(table, part)}`);
    const row = database
      .prepare(
        `SELECT count(*) AS count, min(${key.join(" || ', ' || ")}) AS first
         FROM ${relationOf(table)} AS place WHERE ${test}`,
      )
      .get();
    const [count, first] = [Number(row?.["count"]), String(row?.["first"])];
    if (count === 0) return [];
    const what = kind === "json" ? "is not JSON" : "contains U+0000";
    return [`${table.name}.${name} ${what} in rows: ${count}, the first with ${first}`];
  });
}
