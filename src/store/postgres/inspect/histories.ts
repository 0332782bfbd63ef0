/** histories: attempts, progress, units and log lines of some jobs, in six statements. */
import type { JobId } from "../../../core/job.ts";
import { attemptRecord } from "../../shared/decode-jobs.ts";
import { jobProgress, logRecord, unitRecord } from "../../shared/decode-notes.ts";
import { bounded } from "../../shared/limits.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { JobHistory } from "../../types/notes.ts";
import type { Session } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";
import { list, uuids } from "../database/values.ts";

/** The most units and log lines of one job, as on their pages. */
const PAGE_MAX = 1_000;

const NOTHING: JobHistory = { attempts: [], progress: null, units: [], logs: [] };

export async function histories(
  session: Session,
  ids: readonly JobId[],
  limits: { readonly units: number; readonly logs: number },
): Promise<readonly JobHistory[]> {
  if (ids.length === 0) return [];
  const found = await session.snapshot((sql) => read(sql, ids, limits));
  return ids.map((id) => found.get(id) ?? NOTHING);
}

async function read(
  sql: Sql,
  ids: readonly JobId[],
  limits: { readonly units: number; readonly logs: number },
): Promise<ReadonlyMap<JobId, JobHistory>> {
  const jobs = await sql.all("progress_of_jobs", { ids: uuids(ids) });
  const keys = list(jobs.map(({ key }) => key));
  const [units, logs] = [bounded(limits.units, PAGE_MAX), bounded(limits.logs, PAGE_MAX)];
  const attempts = byKey(await sql.all("attempts_of_jobs", { keys }));
  const phases = byKey(await sql.all("phases_of_jobs", { keys }));
  const counts = byKey(await sql.all("unit_counts_of_jobs", { keys }));
  const firstUnits = byKey(await sql.all("first_units_of_jobs", { keys, limit: units }));
  const lines = byKey(await sql.all("newest_logs_of_jobs", { keys, limit: logs }));
  return new Map(
    jobs.map(({ id, ...row }) => {
      const { key } = row;
      const unitCounts = (counts.get(key) ?? []).map(({ key: _key, ...count }) => count);
      const history: JobHistory = {
        attempts: (attempts.get(key) ?? []).map(attemptRecord),
        progress: jobProgress(row, phases.get(key) ?? [], unitCounts),
        units: (firstUnits.get(key) ?? []).map(unitRecord),
        logs: (lines.get(key) ?? []).map(logRecord),
      };
      return [id, history];
    }),
  );
}

function byKey<Row extends { readonly key: JobKey }>(
  rows: readonly Row[],
): ReadonlyMap<JobKey, readonly Row[]> {
  return Map.groupBy(rows, ({ key }) => key);
}
