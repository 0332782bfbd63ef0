/**
 * Which jobs have outlived their period. The jobs of one state stand in the order of their ends,
 * and so do those whose turn it is, but among others: of types that are kept longer, marked
 * already, awaited, or named by a lease. To walk past the same ones again and again would take ever
 * longer, and so would stepping over removed ones whose entries some old snapshot keeps in the
 * index. So each search remembers up to where there was nothing. What has changed before that
 * place, such as by a late commit, is found by a second look, which goes round in short stretches;
 * if one takes long, the next is not made soon.
 */
import { STATES, isFinal, type FinalState } from "../../core/job.ts";
import { stateCodec } from "../codes.ts";
import { bounded } from "../limits.ts";
import type { JobKey, JobRecord, Periods } from "../store.ts";
import { recordsOf } from "./inspect.ts";
import { keptBy } from "./kept.ts";
import { Rest } from "./rest.ts";
import type { Session } from "./session.ts";
import { list } from "./values.ts";

/** Jobs that one look may walk past, besides those that it finds. */
const DEPTH = 2_000;
const LIMIT_MAX = 1_000;
/** A second look that takes longer may take a twentieth of the time. */
const LOOK_MS_MAX = 250;
/** Longer than anything is kept: 100 years. */
const AGE_MS_MAX = 3_155_760_000_000;

/** What the jobs are looked for. Each purpose passes over others. */
export type Purpose = "prune" | "show" | "mark";

export async function outlived(
  session: Session,
  periods: Periods,
  { fresh, limit }: { readonly fresh: boolean; readonly limit: number },
): Promise<readonly JobRecord[]> {
  const purpose = fresh ? "mark" : "show";
  const { keys } = await findOutlived(session, purpose, periods, bounded(limit, LIMIT_MAX));
  if (keys.length === 0) return [];
  const rows = await session.read.all("jobs_by_keys", { keys: list(keys) });
  return recordsOf(session.names, rows);
}

/** Jobs whose time is over, longest ended first. `isCut`: there may be more than it looked at. */
export async function findOutlived(
  session: Session,
  purpose: Purpose,
  periods: Periods,
  limit: number,
): Promise<{ readonly keys: readonly JobKey[]; readonly isCut: boolean }> {
  const { hands, rest } = keptFor(session);
  const classes = await classesOf(session, periods);
  const searches = classes.map((each) => ({ ...each, hand: hands.of(purpose, each) }));
  const look = { isFresh: purpose === "mark", limit };
  const ahead = searches.map(({ hand, ...each }) => ({ ...each, from: hand.reached, end: END }));
  const behind = searches.map(({ hand, ...each }) => ({
    ...each,
    from: hand.again,
    end: hand.reached,
  }));
  const found = await lookThrough(session, ahead, look);
  const late = (await rest.take(() => lookThrough(session, behind, look))) ?? [];
  for (const [index, { hand }] of searches.entries()) {
    hand.reached = found[index]?.stop ?? hand.reached;
    if (late.length > 0) hand.again = late[index]?.next ?? START;
  }
  const jobs = [...late, ...found].flatMap((each) => each.jobs).toSorted(byEnd);
  const isCut = found.some((each) => each.isCut && each.jobs.length === 0);
  return { keys: [...new Set(jobs.map(({ key }) => key))].slice(0, limit), isCut };
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

/** A place in the order of ends. */
interface Place {
  readonly at: number;
  readonly key: JobKey;
}

const START: Place = { at: 0, key: 0 };
const END: Place = { at: 9_000_000_000_000, key: Number.MAX_SAFE_INTEGER };

/** Up to where there was nothing, and how far the second look has come before that. */
interface Hand {
  reached: Place;
  again: Place;
}

class Hands {
  readonly #known = new Map<string, Hand>();

  of(purpose: Purpose, { state, type }: Class): Hand {
    const name = `${purpose}.${state}.${type}`;
    const hand = this.#known.get(name) ?? { reached: START, again: START };
    this.#known.set(name, hand);
    return hand;
  }
}

const keptFor = keptBy(() => ({ hands: new Hands(), rest: new Rest(LOOK_MS_MAX) }));

/** A part of the order of ends of one class. */
interface Stretch extends Class {
  readonly from: Place;
  readonly end: Place;
}

interface Looked {
  readonly jobs: readonly Place[];
  /** Before the first job that was found, or up to where there was none. */
  readonly stop: Place;
  /** Where the stretch goes on; null: it was looked through. */
  readonly next: Place | null;
  readonly isCut: boolean;
}

async function lookThrough(
  { read }: Session,
  stretches: readonly Stretch[],
  { isFresh, limit }: { readonly isFresh: boolean; readonly limit: number },
): Promise<readonly Looked[]> {
  const ages = stretches.map(({ state, type, others, ms, from, end }, turn) => ({
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
  const rows = await read.all("outlived_keys", {
    ages: JSON.stringify(ages),
    fresh: isFresh,
    limit,
    depth: limit + DEPTH,
  });
  return stretches.map((_, turn) => {
    const own = rows.filter((row) => row.turn === turn);
    const jobs = own.filter((row) => row.is_found).map(({ at, key }) => ({ at, key }));
    const last = own.find((row) => !row.is_found);
    const [first] = jobs;
    const before = first === undefined ? null : { at: first.at, key: first.key - 1 };
    const isCut = last?.is_cut === true;
    const stop = before ?? { at: last?.at ?? 0, key: last?.key ?? 0 };
    return { jobs, stop, next: before !== null || isCut ? stop : null, isCut };
  });
}

function byEnd(left: Place, right: Place): number {
  return left.at - right.at || left.key - right.key;
}
