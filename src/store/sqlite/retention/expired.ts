/**
 * Finds expired jobs. An index orders the jobs of one state by the time they finished. Expired jobs
 * stand there between jobs that are skipped: of types with a longer period, marked already, with
 * dependants, or named by a lease. To scan past the same jobs in each call would take ever longer,
 * so a cursor remembers the position before which nothing was found. A skipped job before the
 * cursor may become removable; a rescan, which covers a short range per call, finds it.
 *
 * `expired` answers the jobs page by page, starting at the cursor, and the caller may leave jobs as
 * they are. So only the first page of a sweep, and empty pages that follow it, advance the cursor.
 */
import { STATES, isFinal, type FinalState } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import { bounded } from "../../shared/limits.ts";
import { START, earlier, later, pageOf, type Scan } from "../../shared/finish-order.ts";
import type { ScanCursor } from "../../shared/scan-cursors.ts";
import type { FinishPosition, ExpiredJobs, ExpiredPage, Periods } from "../../types/records.ts";
import { recordsOf } from "../inspect/jobs.ts";
import type { FinishedRow } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";

/** The maximum of jobs in one scan. */
const DEPTH = 2_000;
/** The maximum of empty scans in one call. */
const SCANS_MAX = 5;
const LIMIT_MAX = 1_000;

/** What the jobs are scanned for. Each purpose skips different jobs. */
type Purpose = "prune" | "show" | "mark";

export function expired(
  session: Session,
  periods: Periods,
  { fresh, limit: wanted, from }: ExpiredPage,
): ExpiredJobs {
  const limit = bounded(wanted, LIMIT_MAX);
  if (limit === 0) return { jobs: [], next: from };
  const searches = searchesOf(session, fresh ? "mark" : "show", periods);
  if (from === null) for (const each of searches) rewind(session, each);
  const scans = searches.map((each) => scanAhead(session, each, { from, limit }));
  const { keys, next } = pageOf(scans.map(positionsOf), limit);
  return { jobs: recordsOf(session, keys), next };
}

/**
 * Jobs to remove, longest ended first. `isCut`: there may be more jobs than were scanned. The
 * caller removes all of them, so that no scan finds them again.
 */
export function findExpired(session: Session, periods: Periods, limit: number): FoundExpired {
  if (limit === 0) return { jobs: [], isCut: false };
  const searches = searchesOf(session, "prune", periods);
  for (let round = 1; ; round += 1) {
    const found = searches.map((each) => scanBoth(session, each, limit));
    const jobs = found
      .flatMap((each) => each.jobs)
      .toSorted((left, right) => left.finished_at - right.finished_at || left.key - right.key)
      .slice(0, limit);
    const isCut = found.some((each) => each.isCut);
    if (jobs.length > 0 || !isCut || round >= SCANS_MAX) return { jobs, isCut };
  }
}

interface FoundExpired {
  readonly jobs: readonly FinishedRow[];
  readonly isCut: boolean;
}

function searchesOf(session: Session, purpose: Purpose, periods: Periods): readonly Search[] {
  const now = session.clock.now();
  return classesOf(session, periods).map((each) => {
    return { ...each, purpose, before: now - each.ms };
  });
}

/** Jobs with the same period: of one state, and of one type or of all types without own periods. */
interface RetentionClass {
  readonly state: FinalState;
  readonly type: number | null;
  /** The types that do not belong to the class, as a JSON list. */
  readonly others: string;
  readonly ms: number;
}

function classesOf(
  { names }: Session,
  { finishedMs, types = {} }: Periods,
): readonly RetentionClass[] {
  const own = Object.entries(types).flatMap(([name, periods]) => {
    const type = names.find("type", name);
    return type === undefined ? [] : [{ type, periods }];
  });
  const others = JSON.stringify(own.map(({ type }) => type));
  return STATES.filter(isFinal).flatMap((state) => [
    { state, type: null, others, ms: finishedMs[state] },
    ...own.map(({ type, periods }) => ({ state, type, others: "[]", ms: periods[state] })),
  ]);
}

interface Search extends RetentionClass {
  readonly purpose: Purpose;
  readonly before: number;
}

function cursorOf(session: Session, { purpose, state, type }: Search): ScanCursor {
  return session.state.expiredCursors.of(purpose, state, type);
}

function scanBoth(session: Session, search: Search, limit: number): FoundExpired {
  const cursor = cursorOf(session, search);
  const end = earlier(cursor.reached, endOf(search));
  const behind = scanRange(session, search, { from: cursor.rescanned, end, limit });
  const isShort = cursor.rescanned === START && behind.stoppedAt === null;
  cursor.rescanned = isShort ? START : (beforeFirst(behind) ?? behind.stoppedAt ?? START);
  const ahead = scanAhead(session, search, { from: null, limit });
  const isCut = ahead.stoppedAt !== null && ahead.jobs.length === 0;
  return { jobs: [...behind.jobs, ...ahead.jobs], isCut };
}

/**
 * Rescans a range before the cursor at the start of a sweep. If an expired job is found, the cursor
 * goes back before it, because the caller may leave the job as it is.
 */
function rewind(session: Session, search: Search): void {
  const cursor = cursorOf(session, search);
  const end = earlier(cursor.reached, endOf(search));
  const behind = scanRange(session, search, { from: cursor.rescanned, end, limit: 1 });
  cursor.rescanned = behind.stoppedAt ?? START;
  cursor.reached = beforeFirst(behind) ?? cursor.reached;
}

function scanAhead(
  session: Session,
  search: Search,
  { from, limit }: Pick<ExpiredPage, "from" | "limit">,
): ScannedRange {
  const cursor = cursorOf(session, search);
  const start = from === null ? cursor.reached : later(from, cursor.reached);
  const ahead = scanRange(session, search, { from: start, end: endOf(search), limit });
  const end = beforeFirst(ahead) ?? ahead.stoppedAt ?? lastOf(search);
  // A scan that starts later does not know which jobs are left before it.
  if (start === cursor.reached) cursor.reached = end;
  return ahead;
}

function endOf({ before }: Search): FinishPosition {
  return { at: before, key: Number.MAX_SAFE_INTEGER };
}

/** More jobs may still finish at the last instant. */
function lastOf({ before }: Search): FinishPosition {
  return { at: before, key: 0 };
}

/** The position before the first found job, which is found again until it is removed or marked. */
function beforeFirst({ jobs: [first] }: ScannedRange): FinishPosition | null {
  return first === undefined ? null : { at: first.finished_at, key: first.key - 1 };
}

interface ScannedRange {
  readonly jobs: readonly FinishedRow[];
  /** Where the scan stopped before the end of the range. */
  readonly stoppedAt: FinishPosition | null;
}

function positionsOf({ jobs, stoppedAt }: ScannedRange): Scan {
  return { jobs: jobs.map(({ finished_at: at, key }) => ({ at, key })), stoppedAt };
}

function scanRange(
  { sql }: Session,
  { purpose, state: word, type, others }: Search,
  {
    from,
    end,
    limit,
  }: { readonly from: FinishPosition; readonly end: FinishPosition; readonly limit: number },
): ScannedRange {
  if (earlier(end, from) === end) return { jobs: [], stoppedAt: null };
  const state = stateCodec.code[word];
  const { at, key } = from;
  const row = sql.get("end_of_range", {
    state,
    at,
    key,
    end_at: end.at,
    end_key: end.key,
    depth: DEPTH,
  });
  const stoppedAt = row === undefined ? null : { at: row.finished_at, key: row.key };
  const jobs = sql.all("expired_jobs", {
    state,
    at,
    key,
    end_at: stoppedAt?.at ?? end.at,
    end_key: stoppedAt?.key ?? end.key,
    type,
    others,
    fresh: purpose === "mark" ? 1 : 0,
    limit,
  });
  return { jobs, stoppedAt };
}
