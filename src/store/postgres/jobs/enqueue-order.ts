/**
 * Splits a batch of keyed jobs into rounds of jobs that do not affect each other. The result is the
 * same as if the jobs of a call were created one after the other.
 */
import { idUuid } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { InternedJob } from "./job-rows.ts";
import type { JobWriter } from "../database/session.ts";

/** A job with the key that was reserved for it. */
export interface NumberedJob {
  readonly interned: InternedJob;
  readonly key: JobKey;
}

/** As few rounds as possible. A round is created after the rounds before it. */
export async function roundsOf(
  transaction: JobWriter,
  jobs: readonly NumberedJob[],
): Promise<readonly (readonly NumberedJob[])[]> {
  const holders = await holdersOf(transaction, jobs);
  const rounds: NumberedJob[][] = [];
  const next = new Map<string, number>();
  const named = new Map<string, number>();
  let [afterChange, afterRead] = [0, 0];
  for (const numbered of jobs) {
    const keys = conflictKeys(numbered.interned);
    const dependencies = dependencyKeys(numbered.interned);
    const changes = changesHolder(numbered, holders, next);
    const reads = readsHolders(numbered, holders, next);
    const round = Math.max(
      ...[...keys, ...dependencies].map((key) => next.get(key) ?? 0),
      // A job must not find a dependency that comes later in the call.
      named.get(idKey(numbered.interned.job.id)) ?? 0,
      reads ? afterChange : 0,
      changes ? afterRead : 0,
    );
    if (changes) afterChange = Math.max(afterChange, round + 1);
    if (reads) afterRead = Math.max(afterRead, round + 1);
    for (const key of keys) next.set(key, round + 1);
    for (const key of dependencies) named.set(key, Math.max(named.get(key) ?? 0, round + 1));
    const jobsOfRound = rounds[round];
    if (jobsOfRound === undefined) rounds[round] = [numbered];
    else jobsOfRound.push(numbered);
  }
  return rounds;
}

/** Jobs of the batch that find their dedup key taken, and the ids of the key holders. */
interface Holders {
  readonly seekers: ReadonlySet<JobKey>;
  readonly ids: ReadonlySet<JobId>;
}

async function holdersOf(transaction: JobWriter, jobs: readonly NumberedJob[]): Promise<Holders> {
  const changing = jobs.filter(({ interned }) => mayChangeHolder(interned));
  if (changing.length === 0 || jobs.length === 1) return { seekers: new Set(), ids: new Set() };
  const wanted = changing.flatMap(wantedRows).filter(({ type }) => type !== 0);
  const rows = await transaction.all("find_dedup", { wanted: JSON.stringify(wanted) });
  return {
    seekers: new Set(rows.map(({ seeker }) => seeker)),
    ids: new Set(rows.flatMap(({ id }) => id ?? [])),
  };
}

/** Whether a job replaces or postpones the holder of its dedup key. */
export function mayChangeHolder({ job: { dedup } }: InternedJob): boolean {
  return dedup !== null && dedup.onConflict !== "skip";
}

/** Replaces or postpones the holder of its dedup key, which may hold other keys as well. */
function changesHolder(
  { interned, key }: NumberedJob,
  holders: Holders,
  earlier: ReadonlyMap<string, number>,
): boolean {
  return holders.seekers.has(key) || (mayChangeHolder(interned) && earlier.has(dedupKey(interned)));
}

/** May be answered with a job that another job of the batch replaces or postpones. */
function readsHolders(
  { interned: { job } }: NumberedJob,
  holders: Holders,
  earlier: ReadonlyMap<string, number>,
): boolean {
  const isRepeat = holders.ids.has(job.id) || earlier.has(idKey(job.id));
  return isRepeat || job.idempotency !== null || job.retryOf !== null;
}

/** Two jobs that share one of these keys belong in different rounds. */
export function conflictKeys(interned: InternedJob): string[] {
  const { job, tenant } = interned;
  const keys = [idKey(job.id)];
  if (job.idempotency !== null) keys.push(`idempotency ${tenant} ${job.idempotency.key}`);
  if (job.dedup !== null) keys.push(dedupKey(interned));
  if (job.retryOf !== null) keys.push(`successor ${job.retryOf}`);
  return keys;
}

/** The conflict keys of the jobs that must exist before this job. */
export function dependencyKeys({ job }: InternedJob): string[] {
  return job.after.map(idKey);
}

function idKey(id: JobId): string {
  return `id ${id}`;
}

function dedupKey({ job, tenant, type }: InternedJob): string {
  return `dedup ${tenant} ${type} ${job.dedup?.key}`;
}

/** A row of `dedup` that a job takes. Type 0: the row reserves the successor of `key`. */
export interface WantedRow {
  readonly tenant: number;
  readonly type: number;
  readonly key: string;
  readonly job: JobKey;
}

export function wantedRows({ interned: { job, tenant, type }, key }: NumberedJob): WantedRow[] {
  const rows: WantedRow[] = [];
  if (job.retryOf !== null) rows.push({ tenant: 0, type: 0, key: idUuid(job.retryOf), job: key });
  if (job.dedup !== null) rows.push({ tenant, type, key: job.dedup.key, job: key });
  return rows;
}
