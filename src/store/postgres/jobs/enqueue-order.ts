/**
 * Which jobs of a batch can be made together, and which must wait for others: what one call asks
 * for has the effect of its jobs one after the other.
 */
import { idUuid } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { Filed } from "./job-rows.ts";
import type { JobWriter } from "../database/session.ts";

/** A job on its way to be made, with the number that was drawn for it. */
export interface Bound {
  readonly filed: Filed;
  readonly key: JobKey;
}

/** The jobs in as few waves as they allow, each after those before it. */
export async function wavesOf(
  transaction: JobWriter,
  jobs: readonly Bound[],
): Promise<readonly (readonly Bound[])[]> {
  const held = await holdersOf(transaction, jobs);
  const waves: Bound[][] = [];
  const next = new Map<string, number>();
  const named = new Map<string, number>();
  let [afterDisturbing, afterLooking] = [0, 0];
  for (const bound of jobs) {
    const marks = marksOf(bound.filed);
    const dependencies = parentMarks(bound.filed);
    const disturbs = disturbsAnother(bound, held, next);
    const looks = looksAtOthers(bound, held, next);
    const turn = Math.max(
      ...[...marks, ...dependencies].map((mark) => next.get(mark) ?? 0),
      // Who names a job that comes later in the call must not find it.
      named.get(idMark(bound.filed.job.id)) ?? 0,
      looks ? afterDisturbing : 0,
      disturbs ? afterLooking : 0,
    );
    if (disturbs) afterDisturbing = Math.max(afterDisturbing, turn + 1);
    if (looks) afterLooking = Math.max(afterLooking, turn + 1);
    for (const mark of marks) next.set(mark, turn + 1);
    for (const mark of dependencies) named.set(mark, Math.max(named.get(mark) ?? 0, turn + 1));
    const wave = waves[turn];
    if (wave === undefined) waves[turn] = [bound];
    else wave.push(bound);
  }
  return waves;
}

/** Who holds the dedup keys of jobs that may replace or move them. */
interface Holders {
  readonly seekers: ReadonlySet<JobKey>;
  readonly ids: ReadonlySet<JobId>;
}

async function holdersOf(transaction: JobWriter, jobs: readonly Bound[]): Promise<Holders> {
  const able = jobs.filter(({ filed }) => isAble(filed));
  if (able.length === 0 || jobs.length === 1) return { seekers: new Set(), ids: new Set() };
  const wanted = able.flatMap(wantedRows).filter(({ type }) => type !== 0);
  const rows = await transaction.all("find_dedup", { wanted: JSON.stringify(wanted) });
  return {
    seekers: new Set(rows.map(({ seeker }) => seeker)),
    ids: new Set(rows.map(({ id }) => id)),
  };
}

function isAble({ job: { dedup } }: Filed): boolean {
  return dedup !== null && dedup.onConflict !== "skip";
}

/** Replaces or moves the holder of its key, whatever other keys that one holds. */
function disturbsAnother(
  { filed, key }: Bound,
  held: Holders,
  earlier: ReadonlyMap<string, number>,
): boolean {
  return held.seekers.has(key) || (isAble(filed) && earlier.has(dedupMark(filed)));
}

/** May be answered with a job that another one of the batch disturbs. */
function looksAtOthers(
  { filed: { job } }: Bound,
  held: Holders,
  earlier: ReadonlyMap<string, number>,
): boolean {
  const isRepeat = held.ids.has(job.id) || earlier.has(idMark(job.id));
  return isRepeat || job.idempotency !== null || job.retryOf !== null;
}

/** What two jobs must not share to be independent of each other. */
export function marksOf(filed: Filed): string[] {
  const { job, tenant } = filed;
  const marks = [idMark(job.id)];
  if (job.idempotency !== null) marks.push(`idempotency ${tenant} ${job.idempotency.key}`);
  if (job.dedup !== null) marks.push(dedupMark(filed));
  if (job.retryOf !== null) marks.push(`successor ${job.retryOf}`);
  return marks;
}

/** What must be there before a job is made. */
export function parentMarks({ job }: Filed): string[] {
  return job.after.map(idMark);
}

function idMark(id: JobId): string {
  return `id ${id}`;
}

function dedupMark({ job, tenant, type }: Filed): string {
  return `dedup ${tenant} ${type} ${job.dedup?.key}`;
}

/** A row of `dedup` that a job wants. Type 0 is no type: it stands for a predecessor. */
export interface WantedRow {
  readonly tenant: number;
  readonly type: number;
  readonly key: string;
  readonly job: JobKey;
}

export function wantedRows({ filed: { job, tenant, type }, key }: Bound): WantedRow[] {
  const rows: WantedRow[] = [];
  if (job.retryOf !== null) rows.push({ tenant: 0, type: 0, key: idUuid(job.retryOf), job: key });
  if (job.dedup !== null) rows.push({ tenant, type, key: job.dedup.key, job: key });
  return rows;
}
