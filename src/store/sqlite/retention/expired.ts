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
import { START, earlier, later, pageOf, type Look } from "../../shared/finish-order.ts";
import type { ScanCursor } from "../../shared/scan-cursors.ts";
import type { EndPlace, ExpiredJobs, ExpiredPage, Periods } from "../../types/records.ts";
import { recordsOf } from "../inspect/jobs.ts";
import type { FinishedRow } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";

/** Jobs that one look walks past. */
const DEPTH = 2_000;
/** Looks of one call that find nothing. */
const ROUNDS_MAX = 5;
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
  if (from === null) for (const each of searches) setBack(session, each);
  const looks = searches.map((each) => lookAhead(session, each, { from, limit }));
  const { keys, next } = pageOf(looks.map(placesOf), limit);
  return { jobs: recordsOf(session, keys), next };
}

/**
 * Jobs to be removed, longest ended first. `isCut`: there may be more than it looked at. All that
 * are found go, so that no search comes upon them again.
 */
export function findExpired(session: Session, periods: Periods, limit: number): Found {
  if (limit === 0) return { jobs: [], isCut: false };
  const searches = searchesOf(session, "prune", periods);
  for (let round = 1; ; round += 1) {
    const found = searches.map((each) => search(session, each, limit));
    const jobs = found
      .flatMap((each) => each.jobs)
      .toSorted((left, right) => left.finished_at - right.finished_at || left.key - right.key)
      .slice(0, limit);
    const isCut = found.some((each) => each.isCut);
    if (jobs.length > 0 || !isCut || round >= ROUNDS_MAX) return { jobs, isCut };
  }
}

interface Found {
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
interface Class {
  readonly state: FinalState;
  readonly type: number | null;
  /** The types that are not among them, as a list. */
  readonly others: string;
  readonly ms: number;
}

function classesOf({ names }: Session, { finishedMs, types = {} }: Periods): readonly Class[] {
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

interface Search extends Class {
  readonly purpose: Purpose;
  readonly before: number;
}

function cursorOf(session: Session, { purpose, state, type }: Search): ScanCursor {
  return session.state.expiredCursors.of(purpose, state, type);
}

function search(session: Session, what: Search, limit: number): Found {
  const cursor = cursorOf(session, what);
  const end = earlier(cursor.reached, endOf(what));
  const behind = look(session, what, { from: cursor.again, end, limit });
  const isShort = cursor.again === START && behind.far === null;
  cursor.again = isShort ? START : (beforeFirst(behind) ?? behind.far ?? START);
  const ahead = lookAhead(session, what, { from: null, limit });
  const isCut = ahead.far !== null && ahead.jobs.length === 0;
  return { jobs: [...behind.jobs, ...ahead.jobs], isCut };
}

/** The second look of a sweep. What it finds may be left as it is: the cursor waits before that. */
function setBack(session: Session, what: Search): void {
  const cursor = cursorOf(session, what);
  const end = earlier(cursor.reached, endOf(what));
  const behind = look(session, what, { from: cursor.again, end, limit: 1 });
  cursor.again = behind.far ?? START;
  cursor.reached = beforeFirst(behind) ?? cursor.reached;
}

function lookAhead(
  session: Session,
  what: Search,
  { from, limit }: Pick<ExpiredPage, "from" | "limit">,
): Stretch {
  const cursor = cursorOf(session, what);
  const start = from === null ? cursor.reached : later(from, cursor.reached);
  const ahead = look(session, what, { from: start, end: endOf(what), limit });
  // One that begins further on does not know what is left before it.
  if (start === cursor.reached) cursor.reached = beforeFirst(ahead) ?? ahead.far ?? lastOf(what);
  return ahead;
}

function endOf({ before }: Search): EndPlace {
  return { at: before, key: Number.MAX_SAFE_INTEGER };
}

/** At the last instant more may end yet. */
function lastOf({ before }: Search): EndPlace {
  return { at: before, key: 0 };
}

/** What was found stays in sight until somebody has removed or marked it. */
function beforeFirst({ jobs: [first] }: Stretch): EndPlace | null {
  return first === undefined ? null : { at: first.finished_at, key: first.key - 1 };
}

interface Stretch {
  readonly jobs: readonly FinishedRow[];
  /** Where it has stopped before the end. */
  readonly far: EndPlace | null;
}

function placesOf({ jobs, far }: Stretch): Look {
  return { jobs: jobs.map(({ finished_at: at, key }) => ({ at, key })), far };
}

function look(
  { sql }: Session,
  { purpose, state: word, type, others }: Search,
  { from, end, limit }: { readonly from: EndPlace; readonly end: EndPlace; readonly limit: number },
): Stretch {
  if (earlier(end, from) === end) return { jobs: [], far: null };
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
  return { jobs, far };
}
