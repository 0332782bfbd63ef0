/** checkpoints, progress, units and unitHolders: queries about the notes of runs. */
import { idBytes, idFromBytes } from "../../../core/ids.ts";
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
import type { Session } from "../database/session.ts";

const PAGE_MAX = 1_000;

export function checkpoints({ sql }: Session, key: JobKey): Checkpoints {
  const totals = sql.get("checkpoints_of_job", { key }) ?? { failed: null, tries: null };
  const phases = sql.all("phases_of_job", { key });
  return decodeCheckpoints(totals, phases, sql.all("ended_units", { key }));
}

export function progress({ sql }: Session, id: JobId): JobProgress | null {
  const row = sql.get("progress_of_job", { id: idBytes(id) });
  if (row === undefined) return null;
  const { key } = row;
  const phases = sql.all("phases_of_job", { key });
  const counts = sql.all("unit_counts", { key }).map((count) => ({ ...count }));
  return jobProgress(row, phases, counts);
}

export function units(
  { sql }: Session,
  id: JobId,
  filter: UnitRecordFilter,
  page: { readonly after?: UnitPlace; readonly limit: number },
): readonly UnitRecord[] {
  const rows = sql.all("units_of_job", {
    id: idBytes(id),
    state: filter.state === undefined ? null : unitCodec.code[filter.state],
    ...unitRange(filter, page.after),
    limit: bounded(page.limit, PAGE_MAX),
  });
  return rows.map(unitRecord);
}

export function unitHolders({ sql }: Session, unit: string, limit: number): readonly UnitHolder[] {
  const rows = sql.all("holders_of_unit", { unit, limit: bounded(limit, PAGE_MAX) });
  return rows.map((row) => unitHolder({ ...row, id: idFromBytes(row.id) }));
}
