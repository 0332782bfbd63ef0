/** The log lines of jobs; only the newest lines of each job are kept. */
import type { JobId } from "../../../core/job.ts";
import { bounded } from "../../shared/limits.ts";
import { logRecord, logRows } from "../../shared/decode-notes.ts";
import { LOG_CHARS_MAX, LOG_LINES_MAX, type LogEntry, type LogRecord } from "../../types/notes.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { isDuplicate, Outdated } from "../database/errors.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { list, uuidOf } from "../database/values.ts";

const PAGE_MAX = 1_000;

/** New log lines of one run. */
interface RunLog {
  readonly key: JobKey;
  readonly n: number;
  readonly logs?: readonly LogEntry[];
}

/**
 * Appends log lines of runs of different jobs, and deletes lines beyond the limits. `relaxed`: the
 * commit need not wait for the disk.
 */
export async function appendLogs(
  transaction: StoreTransaction,
  runs: readonly RunLog[],
  relaxed: boolean,
): Promise<void> {
  const lines = runs.flatMap(({ key, n, logs: added = [] }) =>
    logRows(added).map((row) => ({ key, n, ...row })),
  );
  if (lines.length === 0) return;
  try {
    await transaction.run("put_logs", { lines: JSON.stringify(lines), relaxed });
  } catch (error) {
    if (isDuplicate(error)) throw new Outdated("another transaction has appended to the same log");
    throw error;
  }
  await transaction.run("trim_logs", {
    keys: list([...new Set(lines.map(({ key }) => key))]),
    lines_max: LOG_LINES_MAX,
    chars_max: LOG_CHARS_MAX,
  });
}

export async function logs(
  { read }: Session,
  id: JobId,
  page: { readonly after?: number; readonly limit: number },
): Promise<readonly LogRecord[]> {
  const of = { id: uuidOf(id), limit: bounded(page.limit, PAGE_MAX) };
  const { after } = page;
  const rows =
    after === undefined
      ? (await read.all("newest_log", of)).toReversed()
      : await read.all("log_after", { ...of, after });
  return rows.map(logRecord);
}
