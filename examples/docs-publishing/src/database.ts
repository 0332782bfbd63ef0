/** The publisher's own database. Jobs are not in it: those are Millrace's. */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

/** How long a writer waits for another process. */
const PATIENCE_MS = 5_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS Organization (
    id             INTEGER PRIMARY KEY,
    slug           TEXT NOT NULL UNIQUE,
    title          TEXT NOT NULL,
    edition_mode   TEXT NOT NULL CHECK (edition_mode IN ('pointer', 'copy')),
    rewrite_prefix TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS Project (
    id             INTEGER PRIMARY KEY,
    org_id         INTEGER NOT NULL REFERENCES Organization,
    slug           TEXT NOT NULL,
    title          TEXT NOT NULL,
    default_ref    TEXT NOT NULL,
    tracking_modes TEXT NOT NULL,
    UNIQUE (org_id, slug)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS Build (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id   INTEGER NOT NULL REFERENCES Project,
    git_ref      TEXT NOT NULL,
    status       TEXT NOT NULL DEFAULT 'pending',
    date_created TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
  ) STRICT;
  CREATE TABLE IF NOT EXISTS BuildObject (
    build_id     INTEGER NOT NULL REFERENCES Build,
    key          TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size         INTEGER NOT NULL,
    PRIMARY KEY (build_id, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS Edition (
    id            INTEGER PRIMARY KEY,
    project_id    INTEGER NOT NULL REFERENCES Project,
    slug          TEXT NOT NULL,
    tracking_mode TEXT NOT NULL CHECK (tracking_mode IN ('main', 'git_ref', 'semver_major')),
    tracked_ref   TEXT NOT NULL,
    build_id      INTEGER REFERENCES Build,
    date_updated  TEXT,
    UNIQUE (project_id, slug)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS EditionBuildHistory (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    edition_id   INTEGER NOT NULL REFERENCES Edition,
    build_id     INTEGER NOT NULL REFERENCES Build,
    date_created TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
  ) STRICT;
`;

export function openDatabase(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: PATIENCE_MS });
  db.exec("PRAGMA journal_mode = WAL");
  db.exec(SCHEMA);
  return db;
}

/** All of it or nothing. The body must not wait for anything: the connection is shared. */
export function inTransaction<T>(db: DatabaseSync, body: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = body();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}

/** Rows in the shape that the caller has written into its SELECT. */
export function rowsOf<Row>(db: DatabaseSync, sql: string, ...values: SQLInputValue[]): Row[] {
  const rows: any = db.prepare(sql).all(...values);
  return rows;
}
