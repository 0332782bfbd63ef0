/** setFairness, removeFairness, fairLanes, declareFairness and giveTurns. */
import { writeAudits } from "../audit/write.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import { fairnessChanged } from "../../shared/audit/drafts.ts";
import { MillraceError } from "../../../core/errors.ts";
import type { TenantWeights } from "../../../core/control/fairness.ts";
import { limitOwnerCodec } from "../../shared/codes.ts";
import {
  byLane,
  candidatesOf,
  fairLaneRecord,
  inOrder,
  laterStart,
  nextLook,
  prioritiesOf,
  queuesOf,
  sameWeights,
  servedIn,
  tooManyFairLanes,
  turnLists,
  weightsOf,
  weightsText,
} from "../../shared/control/fair-rows.ts";
import { bounded } from "../../shared/limits.ts";
import {
  FAIR_LANES_MAX,
  type DeclaredFairness,
  type FairLaneRecord,
  type TurnsAnswer,
} from "../../types/fairness.ts";
import type { FairLaneRow, FairJobRow } from "../database/queries.gen.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { list } from "../database/values.ts";

const { code: CODE, operator: OPERATOR } = limitOwnerCodec.code;
/** The oldest jobs that one call looks at. */
const TURNS_MAX = 1_000;
const NO_TURNS: TurnsAnswer = { given: 0, more: false };

export async function setFairness(
  session: Session,
  laneName: string,
  given: TenantWeights,
  by: string | null,
  reason: string | null = null,
): Promise<void> {
  const { lane, weights } = await internAll(session, laneName, given);
  const shown = await weightsShown(session);
  await changing(session, async (transaction, isRepeat) => {
    const stored = await transaction.get("find_fair_lane", { lane });
    if (stored === undefined) await insistOnRoom(transaction);
    const code_weights = stored?.code_weights ?? null;
    await transaction.run("put_fair_lane", { lane, weights, code_weights, owner: OPERATOR, by });
    const change = { before: stored === undefined ? null : shown(stored), after: given };
    const act = { by, reason };
    await writeAudits(transaction, [fairnessChanged(laneName, act, change)], isRepeat);
  });
}

/** The weights of a lane by tenant. Names are read before the transaction. */
async function weightsShown(session: Session): Promise<(row: FairLaneRow) => TenantWeights> {
  const { names } = session;
  await fairLanes(session);
  return (row) =>
    Object.fromEntries(
      Object.entries(weightsOf(row)).map(([tenant, weight]) => {
        return [names.name(Number(tenant))?.text ?? `#${tenant}`, weight];
      }),
    );
}

/** The names are interned before the transaction, which would hold their rows locked. */
async function internAll(
  { names }: Session,
  laneName: string,
  given: TenantWeights,
): Promise<{ readonly lane: number; readonly weights: string }> {
  const tenants = Object.keys(given).map((text) => ({ kind: "tenant", text }) as const);
  await names.intern([{ kind: "lane", text: laneName }, ...tenants]);
  const idOf = (kind: "lane" | "tenant", text: string): number => {
    const id = names.known(kind, text);
    if (id !== undefined) return id;
    throw new MillraceError("STORE_REFUSED", `the database refused the name of a ${kind}`);
  };
  const weights = weightsText(given, (tenant) => idOf("tenant", tenant));
  return { lane: idOf("lane", laneName), weights };
}

async function insistOnRoom(transaction: StoreTransaction): Promise<void> {
  const lanes = await transaction.all("all_fair_lanes", {});
  if (lanes.length >= FAIR_LANES_MAX) throw tooManyFairLanes();
}

/** Workers give turns after the change. */
async function changing<Answer>(
  session: Session,
  work: (transaction: StoreTransaction, isRepeat: boolean) => Promise<Answer>,
): Promise<Answer> {
  const answer = await repeating(session.dice, (isRepeat) =>
    session.transaction((transaction) => work(transaction, isRepeat)),
  );
  session.notifier.wake("work");
  return answer;
}

export async function removeFairness(
  session: Session,
  laneName: string,
  act: Act = NO_ACT,
): Promise<boolean> {
  const lane = await session.names.id("lane", laneName);
  if (lane === undefined) return false;
  const shown = await weightsShown(session);
  return changing(session, async (transaction) => {
    const row = await transaction.get("find_fair_lane", { lane });
    if (row?.owner !== OPERATOR) return false;
    await removeOrRestore(transaction, row);
    const change = { before: shown(row), after: null };
    await writeAudits(transaction, [fairnessChanged(laneName, act, change)]);
    return true;
  });
}

/** What the code states counts again, if it states anything. Turns that were given stay. */
async function removeOrRestore(
  transaction: StoreTransaction,
  { lane, code_weights }: Pick<FairLaneRow, "lane" | "code_weights">,
): Promise<void> {
  if (code_weights !== null) {
    await putCode(transaction, lane, code_weights);
    return;
  }
  await transaction.run("delete_fair_lane", { lane });
  await transaction.run("delete_turns_of_lane", { lane });
}

async function putCode(
  transaction: StoreTransaction,
  lane: number,
  code_weights: string,
): Promise<void> {
  const row = { lane, weights: code_weights, code_weights, owner: CODE, by: null };
  await transaction.run("put_fair_lane", row);
}

export async function fairLanes({ read, names }: Session): Promise<readonly FairLaneRecord[]> {
  const rows = await read.all("all_fair_lanes", {});
  await names.learn(rows.flatMap((row) => [row.lane, ...Object.keys(weightsOf(row)).map(Number)]));
  return rows.map((row) => fairLaneRecord(row, names)).toSorted(byLane);
}

export async function declareFairness(
  session: Session,
  declared: readonly DeclaredFairness[],
): Promise<void> {
  const rows = await session.read.all("all_fair_lanes", {});
  const known = new Map(rows.map((row) => [row.lane, row.code_weights]));
  for (const { lane, weights } of declared) {
    if (weights !== null) await declareLane(session, lane, weights, known);
    else if (known.size > 0) await undeclareLane(session, lane, known);
  }
}

async function declareLane(
  session: Session,
  laneName: string,
  given: TenantWeights,
  known: ReadonlyMap<number, string | null>,
): Promise<void> {
  const { lane, weights } = await internAll(session, laneName, given);
  if (sameWeights(known.get(lane) ?? null, weights)) return;
  await changing(session, async (transaction) => {
    const row = await transaction.get("find_fair_lane", { lane });
    if (row?.owner === OPERATOR) {
      await transaction.run("set_code_weights", { lane, code_weights: weights });
      return;
    }
    if (row === undefined) await insistOnRoom(transaction);
    await putCode(transaction, lane, weights);
  });
}

async function undeclareLane(
  session: Session,
  laneName: string,
  known: ReadonlyMap<number, string | null>,
): Promise<void> {
  const lane = await session.names.id("lane", laneName);
  if (lane === undefined || (known.get(lane) ?? null) === null) return;
  await changing(session, async (transaction) => {
    const row = await transaction.get("find_fair_lane", { lane });
    if (row?.owner === OPERATOR) {
      await transaction.run("set_code_weights", { lane, code_weights: null });
    } else if (row !== undefined) {
      await removeOrRestore(transaction, { lane, code_weights: null });
    }
  });
}

/** Gives turns lane by lane: each lane is a transaction of its own, under the lock of its row. */
export async function giveTurns(session: Session, limit: number): Promise<TurnsAnswer> {
  const lanes = await session.read.all("lanes_without_turns", {});
  const most = bounded(limit, TURNS_MAX);
  const share = Math.ceil(most / Math.max(1, lanes.length));
  session.state.fairWalks.begin(
    lanes.flatMap(({ lane }) => [walkOf(READY, lane), walkOf(QUEUED, lane)]),
    most,
  );
  let [given, more] = [0, false];
  for (const { lane } of lanes) {
    const answer = await repeating(session.dice, () =>
      session.transaction((transaction) => giveInLane(session, transaction, lane, share)),
    );
    given += answer.given;
    more ||= answer.more;
  }
  if (given > 0) {
    // Claims may have passed the positions of the new turns.
    session.state.claimCursors?.forget();
    session.notifier.wake("ready");
  }
  return { given, more };
}

async function giveInLane(
  session: Session,
  transaction: StoreTransaction,
  lane: number,
  limit: number,
): Promise<TurnsAnswer> {
  const row = await transaction.get("fair_lane_for_turns", { lane });
  if (row === undefined) return NO_TURNS;
  const ready = await jobsIn(session, transaction, row, { ...READY, limit });
  const queued = await jobsIn(session, transaction, row, { ...QUEUED, limit });
  const jobs = inOrder([...ready.jobs, ...queued.jobs]);
  if (jobs.length === 0) return NO_TURNS;
  const priorities = list(prioritiesOf(jobs));
  const queues = list(queuesOf(jobs));
  const first = [
    ...(await transaction.all("first_turns", { lane, priorities })),
    ...(await transaction.all("first_queue_turns", { lane, priorities, queues })),
  ];
  const last = await transaction.all("fair_turns", { lane, priorities });
  const lists = turnLists(row, jobs, first, last);
  if (lists.count > 0) {
    await transaction.run("delete_fair_turns", { lane, priorities });
    await transaction.run("put_fair_turns", { lane, turns: lists.last });
    await transaction.run("set_turns", { turns: lists.turns });
  }
  const isCut = (ready.isCut || queued.isCut) && lists.count > 0;
  return { given: lists.count, more: ready.more || queued.more || isCut };
}

/** The two places in which jobs of a fair lane wait: `ready`, and the queues of limits. */
const READY = {
  first: "jobs_without_turn",
  newest: "newest_without_turn",
  later: "later_without_turn",
} as const;
const QUEUED = {
  first: "queued_without_turn",
  newest: "newest_queued",
  later: "later_queued",
} as const;

type PlaceLook = (typeof READY | typeof QUEUED) & { readonly limit: number };

/** The jobs of one place that a look is about. */
interface PlaceJobs {
  readonly jobs: readonly FairJobRow[];
  readonly isCut: boolean;
  /** There are jobs that no look has seen yet. */
  readonly more: boolean;
}

/** The oldest jobs, and of tenants that have too few of them, the newest and some in between. */
async function jobsIn(
  { state }: Session,
  transaction: StoreTransaction,
  row: FairLaneRow,
  look: PlaceLook,
): Promise<PlaceJobs> {
  const { fairWalks: walks } = state;
  const { lane } = row;
  const { limit } = look;
  const oldest = await transaction.all(look.first, { lane, limit });
  const isCut = oldest.length >= limit;
  const walk = walkOf(look, lane);
  if (!isCut) {
    walks.stop(walk, null);
    return { jobs: oldest, isCut, more: false };
  }
  const served = servedIn(row, oldest);
  const tenants = list(served);
  const newest = await transaction.all(look.newest, { lane, tenants, limit });
  if (walks.hasEnded(walk)) {
    return { jobs: candidatesOf(oldest, newest, served), isCut, more: false };
  }
  const seen = laterStart(oldest, walks.placeOf(walk));
  const { share } = walks;
  const later = await transaction.all(look.later, { lane, tenants, ...seen, limit: share });
  const next = nextLook(later, share);
  walks.stop(walk, next);
  const jobs = candidatesOf(oldest, [...newest, ...later], served);
  return { jobs, isCut, more: next !== null };
}

/** The name of the walk through the jobs of a lane in one place. */
function walkOf({ later }: Pick<PlaceLook, "later">, lane: number): string {
  return `${later} ${lane}`;
}
