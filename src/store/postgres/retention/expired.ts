/**
 * Finds expired jobs. The final jobs of one state are indexed in the order in which they finished.
 * Expired jobs are mixed with jobs to keep: of types with a longer retention, marked already,
 * awaited, or named by a lease. Scanning past the same jobs again and again would take ever longer,
 * and so would scanning past removed jobs whose dead index entries an old snapshot keeps. So each
 * search has a cursor: no expired job is left before it. Jobs that have changed before the cursor,
 * such as by a late commit, are found by a rescan, which proceeds in short ranges. A duty cycle
 * limits the time of rescans.
 *
 * `expired` answers page by page from the cursor on, and the caller may keep some of the jobs. So
 * the cursor advances only with the first page of a sweep, and with the following pages as long
 * as no job was found.
 */
import { STATES, isFinal, type FinalState } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import { bounded } from "../../shared/limits.ts";
import { START, byEnd, earlier, later, pageOf, type Scan } from "../../shared/finish-order.ts";
import type { ScanCursor } from "../../shared/scan-cursors.ts";
import type { FinishPosition, ExpiredJobs, ExpiredPage, Periods } from "../../types/records.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { recordsOf } from "../inspect/jobs.ts";
import type { Session } from "../database/session.ts";
import { list } from "../database/values.ts";

/** Jobs that one scan may skip. Jobs to remove come on top. */
const DEPTH = 2_000;
const LIMIT_MAX = 1_000;
/** The longest retention: 100 years. */
const AGE_MS_MAX = 3_155_760_000_000;

/** What the jobs are searched for. Each purpose skips other jobs. */
type Purpose = "prune" | "show" | "mark";

export async function expired(
  session: Session,
  periods: Periods,
  { fresh, limit: wanted, from }: ExpiredPage,
): Promise<ExpiredJobs> {
  const limit = bounded(wanted, LIMIT_MAX);
  if (limit === 0) return { jobs: [], next: from };
  const searches = await searchesOf(session, fresh ? "mark" : "show", periods);
  if (from === null) await rescanBehind(session, searches, fresh);
  const ahead = searches.map(({ cursor, ...each }) => {
    return {
      ...each,
      from: from === null ? cursor.reached : later(from, cursor.reached),
      end: END,
    };
  });
  const scans = await scan(session, ahead, { isFresh: fresh, limit, depth: DEPTH });
  for (const [index, { cursor }] of searches.entries()) {
    // A scan that started after the cursor knows nothing of the jobs in between.
    const start = ahead[index]?.from;
    if (start === cursor.reached) cursor.reached = scans[index]?.stop ?? cursor.reached;
  }
  const { keys, next } = pageOf(scans, limit);
  if (keys.length === 0) return { jobs: [], next };
  const rows = await session.read.all("jobs_by_keys", { keys: list(keys) });
  return { jobs: await recordsOf(session.names, rows), next };
}

/** Rescans at the start of a sweep. The caller may keep the jobs found: cursors stay before. */
async function rescanBehind(
  session: Session,
  searches: readonly Search[],
  isFresh: boolean,
): Promise<void> {
  const options = { isFresh, limit: 1, depth: DEPTH };
  const late = await session.state.expired.rescan.take(() =>
    scan(session, searches.map(rangeBehind), options),
  );
  for (const [index, { jobs, stop, stoppedAt }] of (late ?? []).entries()) {
    const cursor = searches[index]?.cursor;
    if (cursor === undefined) continue;
    cursor.rescanned = stoppedAt ?? START;
    if (jobs.length > 0) cursor.reached = earlier(cursor.reached, stop);
  }
}

/**
 * Jobs to remove, oldest end first. `isCut`: there may be more beyond the scanned range. The caller
 * removes all of them, so that no later search finds them again.
 */
export async function findExpired(
  session: Session,
  periods: Periods,
  limit: number,
): Promise<{ readonly keys: readonly JobKey[]; readonly isCut: boolean }> {
  // A scan that may return no job would move the cursors past the jobs it has found.
  if (limit === 0) return { keys: [], isCut: false };
  const searches = await searchesOf(session, "prune", periods);
  const options = { isFresh: false, limit, depth: limit + DEPTH };
  const ahead = searches.map(({ cursor, ...each }) => ({
    ...each,
    from: cursor.reached,
    end: END,
  }));
  const before = searches.map(rangeBehind);
  const found = await scan(session, ahead, options);
  const { rescan } = session.state.expired;
  const late = (await rescan.take(() => scan(session, before, options))) ?? [];
  for (const [index, { cursor }] of searches.entries()) {
    cursor.reached = found[index]?.stop ?? cursor.reached;
    if (late.length > 0) cursor.rescanned = againAfter(late[index]);
  }
  const jobs = [...late, ...found].flatMap((each) => each.jobs).toSorted(byEnd);
  const isCut = found.some((each) => each.stoppedAt !== null && each.jobs.length === 0);
  return { keys: [...new Set(jobs.map(({ key }) => key))].slice(0, limit), isCut };
}

/** Stays before the jobs found until they are removed. At the end the rescan starts over. */
function againAfter(late: ScanResult | undefined): FinishPosition {
  if (late === undefined) return START;
  return late.jobs.length > 0 || late.stoppedAt !== null ? late.stop : START;
}

/** Jobs with the same retention: one state, and one type or all types without their own. */
interface Class {
  readonly state: FinalState;
  readonly type: number | null;
  /** The types with their own retention, which are excluded. */
  readonly others: readonly number[];
  readonly ms: number;
}

async function classesOf(
  { names }: Session,
  { finishedMs, types = {} }: Periods,
): Promise<readonly Class[]> {
  await names.find(Object.keys(types).map((text) => ({ kind: "type", text })));
  const own = Object.entries(types).flatMap(([name, periods]) => {
    const type = names.known("type", name);
    return type === undefined ? [] : [{ type, periods }];
  });
  const others = own.map(({ type }) => type);
  return STATES.filter(isFinal).flatMap((state) => [
    { state, type: null, others, ms: age(finishedMs[state]) },
    ...own.map(({ type, periods }) => ({ state, type, others: [], ms: age(periods[state]) })),
  ]);
}

export function age(ms: number): number {
  return bounded(ms, AGE_MS_MAX);
}

const END: FinishPosition = { at: 9_000_000_000_000, key: Number.MAX_SAFE_INTEGER };

interface Search extends Class {
  readonly cursor: ScanCursor;
}

async function searchesOf(
  session: Session,
  purpose: Purpose,
  periods: Periods,
): Promise<readonly Search[]> {
  const { cursors } = session.state.expired;
  const classes = await classesOf(session, periods);
  return classes.map((each) => ({ ...each, cursor: cursors.of(purpose, each.state, each.type) }));
}

/** A range of one class, in the order of finish. */
interface FinishRange extends Class {
  readonly from: FinishPosition;
  readonly end: FinishPosition;
}

function rangeBehind({ cursor, ...each }: Search): FinishRange {
  return { ...each, from: cursor.rescanned, end: cursor.reached };
}

interface ScanResult extends Scan {
  /** The place before the first job found, or the end of a range without any. */
  readonly stop: FinishPosition;
}

async function scan(
  { read }: Session,
  ranges: readonly FinishRange[],
  {
    isFresh,
    limit,
    depth,
  }: { readonly isFresh: boolean; readonly limit: number; readonly depth: number },
): Promise<readonly ScanResult[]> {
  const ages = ranges.map(({ state, type, others, ms, from, end }, index) => ({
    turn: index,
    state: stateCodec.code[state],
    ms,
    type,
    others,
    from_at: from.at,
    from_key: from.key,
    end_at: end.at,
    end_key: end.key,
  }));
  const rows = await read.all("expired_keys", {
    ages: JSON.stringify(ages),
    fresh: isFresh,
    limit,
    depth,
  });
  return ranges.map((_, index) => {
    const own = rows.filter((row) => row.turn === index);
    const jobs = own.filter((row) => row.is_found).map(({ at, key }) => ({ at, key }));
    const last = own.find((row) => !row.is_found);
    const reached = { at: last?.at ?? 0, key: last?.key ?? 0 };
    const [first] = jobs;
    const stop = first === undefined ? reached : { at: first.at, key: first.key - 1 };
    return { jobs, stop, stoppedAt: last?.is_cut === true ? reached : null };
  });
}
