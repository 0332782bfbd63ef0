/** dependants and holder: the jobs and the worker that a job is linked to. */
import { idBytes, idFromBytes } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import { bounded } from "../../shared/limits.ts";
import type { JobHolder } from "../../types/records.ts";
import type { Session } from "../database/session.ts";

const LINKS_MAX = 1_000;

export function dependants({ sql }: Session, id: JobId, limit: number): readonly JobId[] {
  const page = { id: idBytes(id), limit: bounded(limit, LINKS_MAX) };
  return sql.all("dependants_of_job", page).map((row) => idFromBytes(row.id));
}

export function holder({ sql, clock }: Session, id: JobId): JobHolder | null {
  const row = sql.get("holder_of_job", { id: idBytes(id) });
  if (row === undefined) return null;
  const { host, pid, until, renewed_at: renewedAt, beat_ms: beatMs } = row;
  return { id: idFromBytes(row.id), host, pid, until, beatMs, beatAgoMs: clock.now() - renewedAt };
}
