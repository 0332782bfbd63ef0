/**
 * The end of an installation that moves elsewhere. The file itself refuses every write from then
 * on, by triggers: so also processes that were running before, and releases that know nothing of
 * this, can neither lose a job in it nor end one that runs elsewhere by then.
 */
import type { DatabaseSync } from "node:sqlite";
import type { Settlement } from "../../../core/outcome.ts";
import type { MoveRecord } from "../../shared/copy-tables.ts";
import { BATCH_MAX } from "../../store.ts";
import type { CrashFacts } from "../../types/jobs-and-runs.ts";
import { MOVED, movedError } from "../database/errors.ts";
import type { Session } from "../database/session.ts";
import { rescueLease } from "../runs/rescue.ts";

/** All but the table that has the mark. */
const TABLES =
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'millrace_*' " +
  "AND name <> 'millrace_meta'";
const BLOCK_TRIGGERS =
  "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'millrace_fence_*'";

/** Takes back what runs and fences the file, inside the transaction. Answers how many runs. */
export function blockWrites(
  database: DatabaseSync,
  session: Session,
  mark: MoveRecord,
  decide: (facts: CrashFacts) => Settlement,
): number {
  refuseMoved(database);
  const { sql, outbox } = session;
  const taken = releaseLeases(session, decide);
  // Now, because afterwards the feed is fenced as well.
  outbox.write();
  outbox.finish();
  sql.run("insert_mark", { value: JSON.stringify(mark) });
  const words = `${MOVED}${mark.to}`.replaceAll("'", "''");
  for (const table of namesIn(database, TABLES)) {
    for (const verb of ["INSERT", "UPDATE", "DELETE"]) {
      const name = table.replace("millrace_", `millrace_fence_${verb.toLowerCase()}_`);
      database.exec(`CREATE TRIGGER ${name} BEFORE ${verb} ON ${table}
                     BEGIN SELECT RAISE(ABORT, '${words}'); END`);
    }
  }
  return taken;
}

/** What had begun goes through the settle door; what only lay in a prefetch goes back as it lay. */
function releaseLeases(session: Session, decide: (facts: CrashFacts) => Settlement): number {
  const { sql } = session;
  const request = { decide, lastWave: new Set<number>() };
  const taken = sql.all("all_leases", {}).map((lease) => {
    const { returned, settled } = rescueLease(session, lease, BATCH_MAX, request);
    return returned + settled.length;
  });
  // A worker that is not known any more is told so by its next heartbeat, and stops its runs.
  sql.run("delete_workers", {});
  return taken.reduce((sum, runs) => sum + runs, 0);
}

/** Takes the fence away. */
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

/** Where the installation went, if it did. */
export function readMoveRecord(database: DatabaseSync): MoveRecord | null {
  const row = database.prepare("SELECT value FROM millrace_meta WHERE name = 'moved_to'").get();
  if (row === undefined) return null;
  const mark: MoveRecord = JSON.parse(String(row["value"]));
  return mark;
}

/** Nobody opens an installation that has moved. */
export function refuseMoved(database: DatabaseSync): void {
  const mark = readMoveRecord(database);
  if (mark !== null) throw movedError(mark.to);
}

function namesIn(database: DatabaseSync, query: string): string[] {
  return database
    .prepare(query)
    .all()
    .map((row) => String(row["name"]));
}
