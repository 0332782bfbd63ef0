/**
 * Which jobs have expired their period. The jobs of one state stand in the order of their ends,
 * and so do those whose turn it is, but among others: of types that are kept longer, marked
 * already, awaited, or named by a lease. To walk past the same ones again and again would take ever
 * longer, and so would stepping over removed ones whose entries some old snapshot keeps in the
 * index. So each search remembers up to where there was nothing. What has changed before that
 * place, such as by a late commit, is found by a second look, which goes round in short ranges;
 * if one takes long, the next is not made soon.
 *
 * Whoever asks for the jobs themselves goes through them page by page, from that place on, and may
 * leave some as they are. So only the first page of a sweep, and what follows as long as nothing
 * was found, moves the place on.
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

/** Jobs that one look may walk past. What is to be removed comes on top. */
const DEPTH = 2_000;
const LIMIT_MAX = 1_000;
/** Longer than anything is kept: 100 years. */
const AGE_MS_MAX = 3_155_760_000_000;

/** What the jobs are looked for. Each purpose passes over others. */
type Purpose = "prune" | "show" | "mark";

export async function expired(
  session: Session,
  periods: Periods,
  { fresh, limit: wanted, from }: ExpiredPage,
): Promise<ExpiredJobs> {
  const limit = bounded(wanted, LIMIT_MAX);
  if (limit === 0) return { jobs: [], next: from };
  const searches = await searchesOf(session, fresh ? "mark" : "show", periods);
  if (from === null) await setBack(session, searches, fresh);
  const ahead = searches.map(({ cursor, ...each }) => {
    return {
      ...each,
      from: from === null ? cursor.reached : later(from, cursor.reached),
      end: END,
    };
  });
  const looks = await lookThrough(session, ahead, { isFresh: fresh, limit, depth: DEPTH });
  for (const [index, { cursor }] of searches.entries()) {
    // A scan that starts further on does not know what is left before its start.
    const start = ahead[index]?.from;
    if (start === cursor.reached) cursor.reached = looks[index]?.stop ?? cursor.reached;
  }
  const { keys, next } = pageOf(looks, limit);
  if (keys.length === 0) return { jobs: [], next };
  const rows = await session.read.all("jobs_by_keys", { keys: list(keys) });
  return { jobs: await recordsOf(session.names, rows), next };
}

/** The second look of a sweep. What it finds may be left as it is: the cursors wait before that. */
async function setBack(
  session: Session,
  searches: readonly Search[],
  isFresh: boolean,
): Promise<void> {
  const look = { isFresh, limit: 1, depth: DEPTH };
  const late = await session.state.expired.rescan.take(() =>
    lookThrough(session, searches.map(behind), look),
  );
  for (const [index, { jobs, stop, stoppedAt }] of (late ?? []).entries()) {
    const cursor = searches[index]?.cursor;
    if (cursor === undefined) continue;
    cursor.rescanned = stoppedAt ?? START;
    if (jobs.length > 0) cursor.reached = earlier(cursor.reached, stop);
  }
}

/**
 * Jobs to be removed, longest ended first. `isCut`: there may be more than it looked at. All that
 * are found go, so that no search comes upon them again.
 */
export async function findExpired(
  session: Session,
  periods: Periods,
  limit: number,
): Promise<{ readonly keys: readonly JobKey[]; readonly isCut: boolean }> {
  const searches = await searchesOf(session, "prune", periods);
  const look = { isFresh: false, limit, depth: limit + DEPTH };
  const ahead = searches.map(({ cursor, ...each }) => ({
    ...each,
    from: cursor.reached,
    end: END,
  }));
  const before = searches.map(behind);
  const found = await lookThrough(session, ahead, look);
  const { rescan } = session.state.expired;
  const late = (await rescan.take(() => lookThrough(session, before, look))) ?? [];
  for (const [index, { cursor }] of searches.entries()) {
    cursor.reached = found[index]?.stop ?? cursor.reached;
    if (late.length > 0) cursor.rescanned = againAfter(late[index]);
  }
  const jobs = [...late, ...found].flatMap((each) => each.jobs).toSorted(byEnd);
  const isCut = found.some((each) => each.stoppedAt !== null && each.jobs.length === 0);
  return { keys: [...new Set(jobs.map(({ key }) => key))].slice(0, limit), isCut };
}

/** What was found stays in sight until it is gone; behind the end it begins anew. */
function againAfter(look: Looked | undefined): FinishPosition {
  if (look === undefined) return START;
  return look.jobs.length > 0 || look.stoppedAt !== null ? look.stop : START;
}

/** Jobs that are kept equally long: of one state, and of one type or of all that have no own. */
interface Class {
  readonly state: FinalState;
  readonly type: number | null;
  /** The types that are not among them. */
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

/** A part of the order of ends of one class. */
interface ScanRange extends Class {
  readonly from: FinishPosition;
  readonly end: FinishPosition;
}

function behind({ cursor, ...each }: Search): ScanRange {
  return { ...each, from: cursor.rescanned, end: cursor.reached };
}

interface Looked extends Scan {
  /** Before the first job that was found, or up to where there was none. */
  readonly stop: FinishPosition;
}

async function lookThrough(
  { read }: Session,
  ranges: readonly ScanRange[],
  {
    isFresh,
    limit,
    depth,
  }: { readonly isFresh: boolean; readonly limit: number; readonly depth: number },
): Promise<readonly Looked[]> {
  const ages = ranges.map(({ state, type, others, ms, from, end }, turn) => ({
    turn,
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
  return ranges.map((_, turn) => {
    const own = rows.filter((row) => row.turn === turn);
    const jobs = own.filter((row) => row.is_found).map(({ at, key }) => ({ at, key }));
    const last = own.find((row) => !row.is_found);
    const reached = { at: last?.at ?? 0, key: last?.key ?? 0 };
    const [first] = jobs;
    const stop = first === undefined ? reached : { at: first.at, key: first.key - 1 };
    return { jobs, stop, stoppedAt: last?.is_cut === true ? reached : null };
  });
}
