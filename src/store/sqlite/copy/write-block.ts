/**
 * Blocks writes to an installation that has moved. Triggers in the file refuse every write. So even
 * processes that were running before, and older releases, can neither enqueue a job that would be
 * lost nor end a job that now runs in the new installation.
 */
import type { DatabaseSync } from "node:sqlite";
import type { Settlement } from "../../../core/outcome.ts";
import type { MoveRecord } from "../../shared/copy/ends.ts";
import { FOLD_ROWS_MAX } from "../../shared/minutes.ts";
import { BATCH_MAX } from "../../store.ts";
import type { CrashFacts } from "../../types/jobs-and-runs.ts";
import { MOVED, movedError } from "../database/errors.ts";
import type { Session } from "../database/session.ts";
import { foldMinutes } from "../inspect/minutes.ts";
import { rescueLease } from "../runs/rescue.ts";

/** All tables but the one with the move record. */
const TABLES =
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'millrace_*' " +
  "AND name <> 'millrace_meta'";
const BLOCK_TRIGGERS =
  "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'millrace_fence_*'";

/** Takes held jobs back and creates the triggers, in one transaction. Answers how many jobs. */
export function blockWrites(
  database: DatabaseSync,
  session: Session,
  moveRecord: MoveRecord,
  decide: (facts: CrashFacts) => Settlement,
): number {
  refuseMoved(database);
  const { sql, outbox } = session;
  const taken = releaseLeases(session, decide);
  // The table `minute` is copied, and its outbox is not.
  while (foldMinutes(session, FOLD_ROWS_MAX) > 0);
  // Written now, because the triggers block the feed as well.
  outbox.write();
  outbox.finish();
  sql.run("insert_mark", { value: JSON.stringify(moveRecord) });
  const message = `${MOVED}${moveRecord.to}`.replaceAll("'", "''");
  for (const table of namesIn(database, TABLES)) {
    for (const verb of ["INSERT", "UPDATE", "DELETE"]) {
      const name = table.replace("millrace_", `millrace_fence_${verb.toLowerCase()}_`);
      database.exec(`CREATE TRIGGER ${name} BEFORE ${verb} ON ${table}
                     BEGIN SELECT RAISE(ABORT, '${message}'); END`);
    }
  }
  return taken;
}

/** Takes back the jobs of all leases, as a rescue does. */
function releaseLeases(session: Session, decide: (facts: CrashFacts) => Settlement): number {
  const { sql } = session;
  const taken = sql.all("all_leases", {}).map((lease) => {
    const { returned, settled } = rescueLease(session, lease, BATCH_MAX, decide);
    return returned + settled.length;
  });
  // The next heartbeat of a deleted worker answers `lost`, and the worker stops its runs.
  sql.run("delete_workers", {});
  sql.run("delete_all_ended_runs", {});
  sql.run("delete_all_worker_types", {});
  sql.run("delete_all_permits", {});
  sql.run("reset_limits", {});
  return taken.reduce((sum, runs) => sum + runs, 0);
}

/** Drops the triggers and the move record. */
export function unblockWrites(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    for (const name of namesIn(database, BLOCK_TRIGGERS)) database.exec(`DROP TRIGGER ${name}`);
    database.exec("DELETE FROM millrace_meta WHERE name = 'moved_to'");
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** Where the installation moved; null if it has not. */
export function readMoveRecord(database: DatabaseSync): MoveRecord | null {
  const row = database.prepare("SELECT value FROM millrace_meta WHERE name = 'moved_to'").get();
  if (row === undefined) return null;
  const moveRecord: MoveRecord = JSON.parse(String(row["value"]));
  return moveRecord;
}

/** Throws if the installation has moved. */
export function refuseMoved(database: DatabaseSync): void {
  const moveRecord = readMoveRecord(database);
  if (moveRecord !== null) throw movedError(moveRecord.to);
}

function namesIn(database: DatabaseSync, query: string): string[] {
  return database
    .prepare(query)
    .all()
    .map((row) => String(row["name"]));
}
