/** setFairness, removeFairness, fairLanes, declareFairness and giveTurns. */
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
  weightsText,
} from "../../shared/control/fair-rows.ts";
import { fairnessChanged } from "../../shared/audit/drafts.ts";
import { bounded } from "../../shared/limits.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import {
  FAIR_LANES_MAX,
  type DeclaredFairness,
  type FairLaneRecord,
  type TurnsAnswer,
} from "../../types/fairness.ts";
import type { FairLaneRow, FairJobRow } from "../database/queries.gen.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";

const { code: CODE, operator: OPERATOR } = limitOwnerCodec.code;
/** The oldest jobs that one call looks at. */
const TURNS_MAX = 1_000;
const NO_TURNS: TurnsAnswer = { given: 0, more: false };

export function setFairness(
  session: Session,
  laneName: string,
  weights: TenantWeights,
  by: string | null,
  reason: string | null = null,
): void {
  const lane = session.names.id("lane", laneName);
  const stored = session.sql.get("find_fair_lane", { lane });
  const code_weights = stored?.code_weights ?? null;
  put(session, { lane, weights: textOf(session, weights), code_weights, owner: OPERATOR, by });
  const before = stored === undefined ? null : fairLaneRecord(stored, session.names).weights;
  const act = { by, reason };
  writeAudits(session, [fairnessChanged(laneName, act, { before, after: weights })]);
}

function textOf({ names }: Session, weights: TenantWeights): string {
  return weightsText(weights, (tenant) => names.id("tenant", tenant));
}

function put(session: Session, row: Omit<FairLaneRow, "set_at">): void {
  const { sql, clock, outbox } = session;
  const isNew = sql.get("find_fair_lane", { lane: row.lane }) === undefined;
  if (isNew && sql.all("all_fair_lanes", {}).length >= FAIR_LANES_MAX) throw tooManyFairLanes();
  sql.run("put_fair_lane", { ...row, now: clock.now() });
  outbox.wake();
}

export function removeFairness(session: Session, laneName: string, act: Act = NO_ACT): boolean {
  const { sql, names } = session;
  const lane = names.find("lane", laneName);
  const row = lane === undefined ? undefined : sql.get("find_fair_lane", { lane });
  if (row?.owner !== OPERATOR) return false;
  removeOrRestore(session, row);
  const before = fairLaneRecord(row, names).weights;
  writeAudits(session, [fairnessChanged(laneName, act, { before, after: null })]);
  return true;
}

/** What the code states counts again, if it states anything. Turns that were given stay. */
function removeOrRestore(session: Session, { lane, code_weights }: FairLaneRow): void {
  const { sql } = session;
  if (code_weights !== null) {
    put(session, { lane, weights: code_weights, code_weights, owner: CODE, by: null });
    return;
  }
  sql.run("delete_fair_lane", { lane });
  sql.run("delete_turns_of_lane", { lane });
}

export function fairLanes({ sql, names }: Session): FairLaneRecord[] {
  return sql
    .all("all_fair_lanes", {})
    .map((row) => fairLaneRecord(row, names))
    .toSorted(byLane);
}

export function declareFairness(session: Session, declared: readonly DeclaredFairness[]): void {
  for (const { lane, weights } of declared) declareLane(session, lane, weights);
}

function declareLane(session: Session, laneName: string, weights: TenantWeights | null): void {
  const { sql, names } = session;
  const known = names.find("lane", laneName);
  if (known === undefined && weights === null) return;
  const lane = known ?? names.id("lane", laneName);
  const row = sql.get("find_fair_lane", { lane });
  const code_weights = weights === null ? null : textOf(session, weights);
  if (sameWeights(row?.code_weights ?? null, code_weights)) return;
  if (row?.owner === OPERATOR) sql.run("set_code_weights", { lane, code_weights });
  else if (code_weights !== null) {
    put(session, { lane, weights: code_weights, code_weights, owner: CODE, by: null });
  } else if (row !== undefined) removeOrRestore(session, { ...row, code_weights });
}

/** Checks without the write lock whether each job of the fair lanes has a turn. */
export function givesNoTurns({ sql }: Session): boolean {
  return sql.get("lanes_without_turns", {}) === undefined;
}

export function giveTurns(session: Session, limit: number): TurnsAnswer {
  const { sql, outbox, state } = session;
  const lanes = sql.all("lanes_without_turns", {});
  const most = bounded(limit, TURNS_MAX);
  const share = Math.ceil(most / Math.max(1, lanes.length));
  state.fairWalks.begin(
    lanes.flatMap(({ lane }) => PLACES.map((place) => walkOf(place, lane))),
    most,
  );
  const answers = lanes.map(({ lane }) => giveInLane(session, lane, share));
  const given = answers.reduce((sum, answer) => sum + answer.given, 0);
  if (given > 0) {
    outbox.wake();
    // Claims may have passed the positions of the new turns.
    state.claimCursors.forget();
  }
  return { given, more: answers.some(({ more }) => more) };
}

function giveInLane(session: Session, lane: number, limit: number): TurnsAnswer {
  const { sql } = session;
  const row = sql.get("fair_lane_for_turns", { lane });
  if (row === undefined) return NO_TURNS;
  const parts = PLACES.map((place) => jobsIn(session, row, { ...place, limit }));
  const jobs = inOrder(parts.flatMap((part) => part.jobs));
  if (jobs.length === 0) return NO_TURNS;
  const priorities = JSON.stringify(prioritiesOf(jobs));
  const queues = JSON.stringify(queuesOf(jobs));
  const first = [
    ...sql.all("first_turns", { lane, priorities }),
    ...sql.all("first_queue_turns", { lane, priorities, queues }),
  ];
  const lists = turnLists(row, jobs, first, sql.all("fair_turns", { lane, priorities }));
  if (lists.count > 0) {
    sql.run("delete_fair_turns", { lane, priorities });
    sql.run("put_fair_turns", { lane, turns: lists.last });
    sql.run("set_turns", { turns: lists.turns });
    if (lists.queueTurns !== null) sql.run("set_queue_turns", { turns: lists.queueTurns });
  }
  const isCut = parts.some((part) => part.isCut);
  const more = parts.some((part) => part.more) || (isCut && lists.count > 0);
  return { given: lists.count, more };
}

/** The two places in which jobs of a fair lane wait: `ready`, and the queues of limits. */
const PLACES = [
  {
    first: "jobs_without_turn",
    newest: "newest_without_turn",
    later: "later_without_turn",
  },
  { first: "queued_without_turn", newest: "newest_queued", later: "later_queued" },
] as const;

type PlaceLook = (typeof PLACES)[number] & { readonly limit: number };

/** The jobs of one place that a look is about. */
interface PlaceJobs {
  readonly jobs: readonly FairJobRow[];
  readonly isCut: boolean;
  /** There are jobs that no look has seen yet. */
  readonly more: boolean;
}

/** The oldest jobs, and of tenants that have too few of them, the newest and some in between. */
function jobsIn(session: Session, row: FairLaneRow, look: PlaceLook): PlaceJobs {
  const { sql, state } = session;
  const { fairWalks: walks } = state;
  const { lane } = row;
  const { limit } = look;
  const oldest = sql.all(look.first, { lane, limit });
  const isCut = oldest.length >= limit;
  const walk = walkOf(look, lane);
  if (!isCut) {
    walks.stop(walk, null);
    return { jobs: oldest, isCut, more: false };
  }
  const served = servedIn(row, oldest);
  const tenants = JSON.stringify(served);
  const newest = sql.all(look.newest, { lane, tenants, limit });
  if (walks.hasEnded(walk)) {
    return { jobs: candidatesOf(oldest, newest, served), isCut, more: false };
  }
  const seen = laterStart(oldest, walks.placeOf(walk));
  const later = sql.all(look.later, { lane, tenants, ...seen, limit: walks.share });
  const next = nextLook(later, walks.share);
  walks.stop(walk, next);
  const jobs = candidatesOf(oldest, [...newest, ...later], served);
  return { jobs, isCut, more: next !== null };
}

/** The name of the walk through the jobs of a lane in one place. */
function walkOf({ later }: Pick<PlaceLook, "later">, lane: number): string {
  return `${later} ${lane}`;
}
