/** dependants and holder: the jobs and the worker that a job is linked to. */
import type { JobId } from "../../../core/job.ts";
import { bounded } from "../../shared/limits.ts";
import type { JobHolder } from "../../types/records.ts";
import type { Session } from "../database/session.ts";
import { uuidOf } from "../database/values.ts";

const LINKS_MAX = 1_000;

export async function dependants(
  { read }: Session,
  id: JobId,
  limit: number,
): Promise<readonly JobId[]> {
  const page = { id: uuidOf(id), limit: bounded(limit, LINKS_MAX) };
  return (await read.all("dependants_of_job", page)).map((row) => row.id);
}

export async function holder({ read }: Session, job: JobId): Promise<JobHolder | null> {
  const row = await read.get("holder_of_job", { id: uuidOf(job) });
  if (row === undefined) return null;
  const { id, host, pid, until, beat_ms: beatMs, beat_ago_ms: beatAgoMs } = row;
  return { id, host, pid, until, beatMs, beatAgoMs };
}
