/** setFairness, removeFairness, fairLanes, declareFairness and giveTurns. */
import { MillraceError } from "../../../core/errors.ts";
import type { TenantWeights } from "../../../core/control/fairness.ts";
import { limitOwnerCodec } from "../../shared/codes.ts";
import {
  byLane,
  fairLaneRecord,
  prioritiesOf,
  sameWeights,
  tenantIdsOf,
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
import type { FairLaneRow } from "../database/queries.gen.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { list } from "../database/values.ts";

const { code: CODE, operator: OPERATOR } = limitOwnerCodec.code;
/** Jobs that get a turn in one transaction. */
const TURNS_MAX = 1_000;

export async function setFairness(
  session: Session,
  laneName: string,
  given: TenantWeights,
  by: string | null,
): Promise<void> {
  const { lane, weights } = await internAll(session, laneName, given);
  await changing(session, async (transaction) => {
    const before = await transaction.get("find_fair_lane", { lane });
    if (before === undefined) await insistOnRoom(transaction);
    const code_weights = before?.code_weights ?? null;
    await transaction.run("put_fair_lane", { lane, weights, code_weights, owner: OPERATOR, by });
  });
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
  work: (transaction: StoreTransaction) => Promise<Answer>,
): Promise<Answer> {
  const answer = await repeating(session.dice, () => session.transaction(work));
  session.notifier.wake("work");
  return answer;
}

export async function removeFairness(session: Session, laneName: string): Promise<boolean> {
  const lane = await session.names.id("lane", laneName);
  if (lane === undefined) return false;
  return changing(session, async (transaction) => {
    const row = await transaction.get("find_fair_lane", { lane });
    if (row?.owner !== OPERATOR) return false;
    await removeOrRestore(transaction, row);
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
  const share = Math.ceil(bounded(limit, TURNS_MAX) / Math.max(1, lanes.length));
  let [given, more] = [0, false];
  for (const { lane } of lanes) {
    const count = await repeating(session.dice, () =>
      session.transaction((transaction) => giveInLane(transaction, lane, share)),
    );
    given += count;
    more ||= count >= share;
  }
  if (given > 0) {
    // Claims may have passed the positions of the new turns.
    session.state.claimCursors?.forget();
    session.notifier.wake("ready");
  }
  return { given, more };
}

/** Answers how many of the oldest jobs without a turn have one now. */
async function giveInLane(
  transaction: StoreTransaction,
  lane: number,
  limit: number,
): Promise<number> {
  const row = await transaction.get("fair_lane_for_turns", { lane });
  if (row === undefined) return 0;
  const oldest = await transaction.all("jobs_without_turn", { lane, limit });
  if (oldest.length === 0) return 0;
  const tenants = list(tenantIdsOf(oldest));
  // Tenants behind a backlog without turns need not wait until all of it has turns.
  const newest =
    oldest.length < limit
      ? []
      : await transaction.all("newest_without_turn", { lane, tenants, limit });
  const jobs = [...oldest, ...newest];
  const priorities = list(prioritiesOf(jobs));
  const first = await transaction.all("first_turns", { lane, priorities });
  const last = await transaction.all("fair_turns", { lane, priorities });
  const lists = turnLists(row, jobs, first, last);
  await transaction.run("delete_fair_turns", { lane, priorities });
  await transaction.run("put_fair_turns", { lane, turns: lists.last });
  await transaction.run("set_turns", { turns: lists.turns });
  return oldest.length;
}
