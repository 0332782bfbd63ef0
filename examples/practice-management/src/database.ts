/** The firms' own database. Jobs and dead letters are not in it: those are Millrace's. */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

/** How long a writer waits for another process. */
const PATIENCE_MS = 5_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS firm (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS firm_user (
    id       INTEGER PRIMARY KEY,
    firm_id  INTEGER NOT NULL REFERENCES firm,
    name     TEXT NOT NULL,
    is_staff INTEGER NOT NULL CHECK (is_staff IN (0, 1)),
    role     TEXT NOT NULL CHECK (role IN ('member', 'manager', 'partner')),
    UNIQUE (firm_id, name)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS client (
    firm_id INTEGER NOT NULL REFERENCES firm,
    address TEXT NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (firm_id, address)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS email (
    firm_id             INTEGER NOT NULL REFERENCES firm,
    connection_id       INTEGER NOT NULL,
    external_message_id TEXT NOT NULL,
    raw                 TEXT NOT NULL,
    subject             TEXT,
    client              TEXT,
    PRIMARY KEY (firm_id, connection_id, external_message_id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS appointment (
    firm_id        INTEGER NOT NULL REFERENCES firm,
    appointment_id TEXT NOT NULL,
    title          TEXT NOT NULL,
    starts_at      TEXT NOT NULL,
    PRIMARY KEY (firm_id, appointment_id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS recurrence (
    id          INTEGER PRIMARY KEY,
    firm_id     INTEGER NOT NULL REFERENCES firm,
    title       TEXT NOT NULL,
    first_month TEXT NOT NULL,
    months      INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS task (
    firm_id       INTEGER NOT NULL REFERENCES firm,
    recurrence_id INTEGER NOT NULL,
    period        TEXT NOT NULL,
    title         TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS execution_step (
    firm_id      INTEGER NOT NULL REFERENCES firm,
    execution_id INTEGER NOT NULL,
    step         TEXT NOT NULL,
    runs         INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (firm_id, execution_id, step)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS document (
    id      INTEGER PRIMARY KEY,
    firm_id INTEGER NOT NULL REFERENCES firm,
    file    TEXT NOT NULL,
    sha256  TEXT,
    label   TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS notification (
    id        INTEGER PRIMARY KEY,
    firm_id   INTEGER NOT NULL REFERENCES firm,
    recipient TEXT NOT NULL,
    subject   TEXT NOT NULL,
    shown     INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE IF NOT EXISTS session (
    id         INTEGER PRIMARY KEY,
    firm_id    INTEGER NOT NULL REFERENCES firm,
    expires_at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS matter (
    id        INTEGER PRIMARY KEY,
    firm_id   INTEGER NOT NULL REFERENCES firm,
    title     TEXT NOT NULL,
    closed_at TEXT,
    archived  INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  -- What jobs have done, by the key of the request.
  CREATE TABLE IF NOT EXISTS done (
    firm_id         INTEGER NOT NULL,
    idempotency_key TEXT NOT NULL,
    result          TEXT NOT NULL,
    PRIMARY KEY (firm_id, idempotency_key)
  ) STRICT;
  -- The screens of the firms know dead letters by number.
  CREATE TABLE IF NOT EXISTS dlq_number (
    dlq_id      INTEGER PRIMARY KEY AUTOINCREMENT,
    firm_id     INTEGER NOT NULL REFERENCES firm,
    dead_letter TEXT NOT NULL UNIQUE
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
