/** Ids of rows of jobs, which SQLite stores as bytes. */
import { idFromBytes } from "../../../core/ids.ts";
import type { StoredJob } from "../../shared/decode-jobs.ts";
import type { JobNowRow } from "../database/queries.gen.ts";

type WithIds = Omit<JobNowRow, "id" | "parent" | "retry_of"> &
  Pick<StoredJob, "id" | "parent" | "retry_of">;

/** A row with ids as text. */
export function withIds(row: JobNowRow): WithIds {
  return {
    ...row,
    id: idFromBytes(row.id),
    parent: row.parent === null ? null : idFromBytes(row.parent),
    retry_of: row.retry_of === null ? null : idFromBytes(row.retry_of),
  };
}
