/** What handlers have logged: the newest lines of each job. */
import type { JobId } from "../../../core/job.ts";
import { bounded } from "../../shared/limits.ts";
import { logRecord, logRows } from "../../shared/decode-notes.ts";
import { LOG_CHARS_MAX, LOG_LINES_MAX, type LogLine, type LogRecord } from "../../types/notes.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { isDuplicate, Outdated } from "../database/errors.ts";
import type { Session, SessionTransaction } from "../database/session.ts";
import { list, uuidOf } from "../database/values.ts";

const PAGE_MAX = 1_000;

/** What one run has said. */
interface Said {
  readonly key: JobKey;
  readonly n: number;
  readonly logs?: readonly LogLine[];
}

/**
 * Adds what runs have said, each of another job, and lets go of what is too much then. `relaxed`:
 * the commit need not wait for the disk.
 */
export async function appendLogs(
  transaction: SessionTransaction,
  runs: readonly Said[],
  relaxed: boolean,
): Promise<void> {
  const lines = runs.flatMap(({ key, n, logs: said = [] }) =>
    logRows(said).map((row) => ({ key, n, ...row })),
  );
  if (lines.length === 0) return;
  try {
    await transaction.run("put_logs", { lines: JSON.stringify(lines), relaxed });
  } catch (error) {
    if (isDuplicate(error)) throw new Outdated("somebody else has added to the same log");
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
