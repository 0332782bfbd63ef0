/** get, ends, tenantsOf, attempts, idsBetween, list and count. */
import type { IdRange } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import { attemptRecord, jobEnds, jobRecord, type StoredJob } from "../../shared/decode-jobs.ts";
import { behindGates, needsGates } from "../../shared/closed-targets.ts";
import type { MatchCount, ListFilter, Listing, Page } from "../../types/lists.ts";
import type { AttemptRecord, JobEnd, JobRecord } from "../../types/records.ts";
import { candidates } from "./list-sources.ts";
import { orNothing } from "../database/errors.ts";
import type { InternedNames } from "../database/interned-names.ts";
import { bounded } from "../../shared/limits.ts";
import { countChunks, PAGE_MAX, pageChunks } from "../../shared/lists/bounds.ts";
import type { Session } from "../database/session.ts";
import { readForAll } from "../database/tenant-reads.ts";
import { list as listOf, uuidOf, uuids } from "../database/values.ts";

export async function get(session: Session, id: JobId): Promise<JobRecord | null> {
  const row = await session.read.get("job_by_id", { id: uuidOf(id) });
  if (row === undefined) return null;
  const [record] = await shownRecords(session, [row]);
  return record ?? null;
}

export async function ends(
  { read, names }: Session,
  ids: readonly JobId[],
): Promise<readonly JobEnd[]> {
  const rows = await read.all("ends_of_jobs", { ids: uuids(ids) });
  await names.learn(rows.map(({ type }) => type));
  return jobEnds(names, ids, rows);
}

export async function tenantsOf(
  { read, names }: Session,
  ids: readonly JobId[],
): Promise<readonly (string | null)[]> {
  const rows = await read.all("tenants_of_ids", { ids: uuids(ids) });
  await names.learn(rows.map(({ tenant }) => tenant));
  const found = new Map(rows.map((row) => [row.asked, names.text(row.tenant)]));
  return ids.map((id) => found.get(id) ?? null);
}

export async function attempts({ read }: Session, id: JobId): Promise<readonly AttemptRecord[]> {
  const rows = await read.all("attempts_of_job", { id: uuidOf(id) });
  return rows.map(attemptRecord);
}

export async function idsBetween(
  { read }: Session,
  { from, to }: IdRange,
  limit: number,
): Promise<readonly JobId[]> {
  const range = { first: uuidOf(from), last: uuidOf(to), limit: bounded(limit, PAGE_MAX) };
  return (await read.all("ids_between", range)).map(({ id }) => id);
}

export async function list(session: Session, filter: ListFilter, page: Page): Promise<Listing> {
  const found = await orNothing(find(session, filter, page), NOTHING);
  return { ...found, jobs: await shownRecords(session, found.jobs) };
}

type Found = Omit<Listing, "jobs"> & { readonly jobs: readonly StoredJob[] };

const NOTHING: Found = { jobs: [], next: null, isCutShort: false };

async function find(session: Session, filter: ListFilter, page: Page): Promise<Found> {
  const limit = bounded(page.limit, PAGE_MAX);
  const { after } = page;
  const range = { ...(after === undefined ? {} : { after }), sizes: pageChunks(limit) };
  const jobs: StoredJob[] = [];
  let reached: Listing["next"] = null;
  for await (const { keys, conditions, isLast } of candidates(session, filter, range)) {
    const chunk = { keys: listOf(keys), limit: limit - jobs.length, ...conditions };
    jobs.push(...(await session.read.all("match_jobs", chunk)));
    const isFull = jobs.length >= limit;
    reached = (isFull ? jobs.at(-1)?.key : keys.at(-1)) ?? null;
    if (isFull) return { jobs, next: reached, isCutShort: false };
    if (isLast) return { jobs, next: null, isCutShort: false };
  }
  return { jobs, next: reached, isCutShort: reached !== null };
}

export async function count(
  session: Session,
  filter: ListFilter,
  max: number,
): Promise<MatchCount> {
  const byState = await countByState(session, filter, bounded(max, Number.MAX_SAFE_INTEGER));
  if (byState !== null) return { count: Math.min(byState, max), isExact: true };
  return orNothing(countMatching(session, filter, max), { count: 0, isExact: true });
}

async function countMatching(
  session: Session,
  filter: ListFilter,
  max: number,
): Promise<MatchCount> {
  let found = 0;
  // Without any candidate there is no turn.
  let isExact = true;
  const sizes = countChunks(max);
  for await (const { keys, conditions, isLast } of candidates(session, filter, { sizes })) {
    const chunk = { keys: listOf(keys), ...conditions };
    found += (await session.read.get("count_matching", chunk))?.count ?? 0;
    if (found >= max) return { count: max, isExact: true };
    isExact = isLast;
  }
  return { count: found, isExact };
}

/** Most counts filter by state only, and each state has an index. */
async function countByState(
  { read }: Session,
  filter: ListFilter,
  max: number,
): Promise<number | null> {
  const { states, ...others } = filter;
  if (states === undefined || Object.keys(others).length > 0) return null;
  const places = await read.get("count_places", { max });
  let sum = 0;
  for (const state of new Set(states)) {
    if (state === "scheduled" || state === "running") sum += places?.[state] ?? 0;
    else if (state === "queued") sum += (places?.ready ?? 0) + (places?.blocked ?? 0);
    else {
      const ended = await read.get("count_ended", { state: stateCodec.code[state], max });
      sum += ended?.count ?? 0;
    }
  }
  return sum;
}

/** Decodes rows of jobs that may wait: closed gates hold back due jobs that were not moved yet. */
async function shownRecords(
  { names, read }: Session,
  rows: readonly StoredJob[],
): Promise<JobRecord[]> {
  if (!needsGates(rows)) return recordsOf(names, rows);
  // Gates are no rows of a tenant: the role of a tenant does not see them.
  const closed = await readForAll(() => read.all("closed_targets", {}));
  return recordsOf(names, behindGates(rows, closed));
}

/** Decodes job rows. */
export async function recordsOf(
  names: InternedNames,
  rows: readonly StoredJob[],
): Promise<JobRecord[]> {
  await names.learn(
    rows.flatMap(({ type, tenant, lane, category, gate }) =>
      // Only closed gates have ids above 0.
      [type, tenant, lane, category, gate].filter((id) => id !== null).filter((id) => id > 0),
    ),
  );
  return rows.map((row) => jobRecord(names, row));
}
