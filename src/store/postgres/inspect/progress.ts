/** checkpoints, progress, units and unitHolders: reads what the notes of runs have stored. */
import type { JobId } from "../../../core/job.ts";
import { unitCodec } from "../../shared/codes.ts";
import { bounded } from "../../shared/limits.ts";
import { unitRange } from "../../shared/unit-range.ts";
import {
  decodeCheckpoints,
  jobProgress,
  unitHolder,
  unitRecord,
} from "../../shared/decode-notes.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type {
  Checkpoints,
  JobProgress,
  UnitRecordFilter,
  UnitHolder,
  UnitPlace,
  UnitRecord,
} from "../../types/notes.ts";
import { orNothing } from "../database/errors.ts";
import type { Session } from "../database/session.ts";
import { uuidOf } from "../database/values.ts";

const PAGE_MAX = 1_000;

/** Only the worker that runs the job writes its checkpoints, so no snapshot is needed. */
export async function checkpoints({ read }: Session, key: JobKey): Promise<Checkpoints> {
  const [summary, phases, ended] = await Promise.all([
    read.get("checkpoints_of_job", { key }),
    read.all("phases_of_job", { key }),
    read.all("ended_units", { key }),
  ]);
  return decodeCheckpoints(summary ?? { failed: null, tries: null }, phases, ended);
}

export async function progress(session: Session, id: JobId): Promise<JobProgress | null> {
  return session.snapshot(async (sql) => {
    const row = await sql.get("progress_of_job", { id: uuidOf(id) });
    if (row === undefined) return null;
    const { key } = row;
    const phases = await sql.all("phases_of_job", { key });
    return jobProgress(row, phases, await sql.all("unit_counts", { key }));
  });
}

export async function units(
  { read }: Session,
  id: JobId,
  filter: UnitRecordFilter,
  page: { readonly after?: UnitPlace; readonly limit: number },
): Promise<readonly UnitRecord[]> {
  const search = read.all("units_of_job", {
    id: uuidOf(id),
    state: filter.state === undefined ? null : unitCodec.code[filter.state],
    ...unitRange(filter, page.after),
    limit: bounded(page.limit, PAGE_MAX),
  });
  return (await orNothing(search, [])).map(unitRecord);
}

export async function unitHolders(
  { read }: Session,
  unit: string,
  limit: number,
): Promise<readonly UnitHolder[]> {
  const search = read.all("holders_of_unit", { unit, limit: bounded(limit, PAGE_MAX) });
  return (await orNothing(search, [])).map(unitHolder);
}
