/** setFairness, removeFairness, fairLanes, declareFairness and giveTurns. */
import type { TenantWeights } from "../../../core/control/fairness.ts";
import { limitOwnerCodec } from "../../shared/codes.ts";
import {
  byLane,
  candidatesOf,
  fairLaneRecord,
  LATER_PER_JOB,
  laterStart,
  nextLook,
  prioritiesOf,
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
const NO_OTHERS = { rows: [], more: false } as const;

export function setFairness(
  session: Session,
  laneName: string,
  weights: TenantWeights,
  by: string | null,
): void {
  const lane = session.names.id("lane", laneName);
  const stored = session.sql.get("find_fair_lane", { lane });
  const code_weights = stored?.code_weights ?? null;
  put(session, { lane, weights: textOf(session, weights), code_weights, owner: OPERATOR, by });
  const before = stored === undefined ? null : fairLaneRecord(stored, session.names).weights;
  const act = { by, reason: null };
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
  const share = Math.ceil(bounded(limit, TURNS_MAX) / Math.max(1, lanes.length));
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
  const oldest = row === undefined ? [] : sql.all("jobs_without_turn", { lane, limit });
  if (row === undefined || oldest.length === 0) return { given: 0, more: false };
  const served = servedIn(row, oldest);
  const isCut = oldest.length >= limit;
  const others = isCut ? othersIn(session, lane, { oldest, served, limit }) : NO_OTHERS;
  const jobs = candidatesOf(oldest, others.rows, served);
  const priorities = JSON.stringify(prioritiesOf(jobs));
  const first = sql.all("first_turns", { lane, priorities });
  const last = sql.all("fair_turns", { lane, priorities });
  const lists = turnLists(row, jobs, first, last);
  if (lists.count > 0) {
    sql.run("delete_fair_turns", { lane, priorities });
    sql.run("put_fair_turns", { lane, turns: lists.last });
    sql.run("set_turns", { turns: lists.turns });
  }
  return { given: lists.count, more: others.more || (isCut && lists.count > 0) };
}

interface OldestJobs {
  readonly oldest: readonly FairJobRow[];
  readonly served: readonly number[];
  readonly limit: number;
}

/** The jobs of tenants that have too few of the oldest jobs: the newest, and some in between. */
function othersIn(
  { sql, state }: Session,
  lane: number,
  { oldest, served, limit }: OldestJobs,
): { readonly rows: readonly FairJobRow[]; readonly more: boolean } {
  const tenants = JSON.stringify(served);
  const newest = sql.all("newest_without_turn", { lane, tenants, limit });
  const seen = laterStart(oldest, state.fairLooks.get(lane));
  const wide = limit * LATER_PER_JOB;
  const later = sql.all("later_without_turn", { lane, tenants, ...seen, limit: wide });
  const next = nextLook(later, wide);
  if (next === null) state.fairLooks.delete(lane);
  else state.fairLooks.set(lane, next);
  return { rows: [...newest, ...later], more: next !== null };
}
