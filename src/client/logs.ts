/** `mill.jobs.logs`: the stored log lines of a job. */
import type { JobId } from "../core/job.ts";
import { decode } from "../core/payload.ts";
import type { LogPage, LogView } from "../api/logs.ts";
import type { JobStore } from "../store/store.ts";
import type { LogRecord } from "../store/types/notes.ts";
import { logPage } from "./filters.ts";

/** `next` is null if no line follows so far. */
export async function listLogs(
  store: JobStore,
  id: JobId,
  given: LogPage,
): Promise<{ lines: readonly LogView[]; next: number | null }> {
  const page = logPage(given);
  const lines = (await store.logs(id, page)).map(logView);
  const last = page.after !== undefined && lines.length >= page.limit ? lines.at(-1) : undefined;
  return { lines, next: last?.line ?? null };
}

function logView({ line, n, at, level, message, fields }: LogRecord): LogView {
  const known: any = decode(fields);
  return { line, attempt: n, at: new Date(at), level, message, fields: known ?? null };
}
