/** logs: the newest log lines of each job. */
import { idBytes } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import { bounded } from "../../shared/limits.ts";
import { logRecord, logRows } from "../../shared/decode-notes.ts";
import { LOG_CHARS_MAX, LOG_LINES_MAX, type LogEntry, type LogRecord } from "../../types/notes.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { Session } from "../database/session.ts";

const PAGE_MAX = 1_000;

/**
 * Appends lines of a run, except those of a repeated note, and deletes the oldest lines beyond the
 * bounds.
 */
export function appendLog(
  { sql }: Session,
  { key, n }: { readonly key: JobKey; readonly n: number },
  lines: readonly LogEntry[],
): void {
  if (lines.length === 0) return;
  const last = sql.get("last_line", { key });
  const lastTurn = last?.n === n ? last.turn : 0;
  for (const { place, ...row } of logRows(lines.filter(({ turn }) => turn > lastTurn))) {
    sql.run("insert_log", { key, n, line: (last?.line ?? 0) + place, ...row });
  }
  sql.run("trim_log", { key, lines_max: LOG_LINES_MAX, chars_max: LOG_CHARS_MAX });
}

export function logs(
  { sql }: Session,
  id: JobId,
  page: { readonly after?: number; readonly limit: number },
): readonly LogRecord[] {
  const of = { id: idBytes(id), limit: bounded(page.limit, PAGE_MAX) };
  const { after } = page;
  const rows =
    after === undefined
      ? sql.all("newest_log", of).toReversed()
      : sql.all("log_after", { ...of, after });
  return rows.map(logRecord);
}
