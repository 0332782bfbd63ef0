/**
 * Which jobs have expired their period. The jobs of one state stand in the order of their ends,
 * and so do those whose turn it is, but among others: of types that are kept longer, marked
 * already, awaited, or named by a lease. To walk past the same ones again and again would take ever
 * longer, so each search remembers up to where there was nothing. What has changed before that
 * place is found by a second look, which goes round in short stretches.
 *
 * Whoever asks for the jobs themselves goes through them page by page, from that place on, and may
 * leave some as they are. So only the first page of a sweep, and what follows as long as nothing
 * was found, moves the place on.
 */
import { STATES, isFinal, type FinalState } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import { bounded } from "../../shared/limits.ts";
import { START, earlier, later, pageOf, type Scan } from "../../shared/finish-order.ts";
import type { ScanCursor } from "../../shared/scan-cursors.ts";
import type { FinishPosition, ExpiredJobs, ExpiredPage, Periods } from "../../types/records.ts";
import { recordsOf } from "../inspect/jobs.ts";
import type { FinishedRow } from "../database/rows.ts";
import type { Session } from "../database/session.ts";

/** Jobs that one look walks past. */
const DEPTH = 2_000;
/** Looks of one call that find nothing. */
const SCANS_MAX = 5;
const LIMIT_MAX = 1_000;

/** What the jobs are looked for. Each purpose passes over others. */
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
  const looks = searches.map((each) => scanAhead(session, each, { from, limit }));
  const { keys, next } = pageOf(looks.map(positionsOf), limit);
  return { jobs: recordsOf(session, keys), next };
}

/**
 * Jobs to be removed, longest ended first. `isCut`: there may be more than it looked at. All that
 * are found go, so that no search comes upon them again.
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

/** Jobs that are kept equally long: of one state, and of one type or of all that have no own. */
interface RetentionClass {
  readonly state: FinalState;
  readonly type: number | null;
  /** The types that are not among them, as a list. */
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

function scanBoth(session: Session, what: Search, limit: number): FoundExpired {
  const cursor = cursorOf(session, what);
  const end = earlier(cursor.reached, endOf(what));
  const behind = scanRange(session, what, { from: cursor.rescanned, end, limit });
  const isShort = cursor.rescanned === START && behind.stoppedAt === null;
  cursor.rescanned = isShort ? START : (beforeFirst(behind) ?? behind.stoppedAt ?? START);
  const ahead = scanAhead(session, what, { from: null, limit });
  const isCut = ahead.stoppedAt !== null && ahead.jobs.length === 0;
  return { jobs: [...behind.jobs, ...ahead.jobs], isCut };
}

/** The second look of a sweep. What it finds may be left as it is: the cursor waits before that. */
function rewind(session: Session, what: Search): void {
  const cursor = cursorOf(session, what);
  const end = earlier(cursor.reached, endOf(what));
  const behind = scanRange(session, what, { from: cursor.rescanned, end, limit: 1 });
  cursor.rescanned = behind.stoppedAt ?? START;
  cursor.reached = beforeFirst(behind) ?? cursor.reached;
}

function scanAhead(
  session: Session,
  what: Search,
  { from, limit }: Pick<ExpiredPage, "from" | "limit">,
): ScannedRange {
  const cursor = cursorOf(session, what);
  const start = from === null ? cursor.reached : later(from, cursor.reached);
  const ahead = scanRange(session, what, { from: start, end: endOf(what), limit });
  // One that begins further on does not know what is left before it.
  if (start === cursor.reached)
    cursor.reached = beforeFirst(ahead) ?? ahead.stoppedAt ?? lastOf(what);
  return ahead;
}

function endOf({ before }: Search): FinishPosition {
  return { at: before, key: Number.MAX_SAFE_INTEGER };
}

/** At the last instant more may end yet. */
function lastOf({ before }: Search): FinishPosition {
  return { at: before, key: 0 };
}

/** What was found stays in sight until somebody has removed or marked it. */
function beforeFirst({ jobs: [first] }: ScannedRange): FinishPosition | null {
  return first === undefined ? null : { at: first.finished_at, key: first.key - 1 };
}

interface ScannedRange {
  readonly jobs: readonly FinishedRow[];
  /** Where it has stopped before the end. */
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
  const far = row === undefined ? null : { at: row.finished_at, key: row.key };
  const jobs = sql.all("expired_jobs", {
    state,
    at,
    key,
    end_at: far?.at ?? end.at,
    end_key: far?.key ?? end.key,
    type,
    others,
    fresh: purpose === "mark" ? 1 : 0,
    limit,
  });
  return { jobs, stoppedAt: far };
}
