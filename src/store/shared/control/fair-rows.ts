/** Fair lanes as both databases store them. */
import { MillraceError } from "../../../core/errors.ts";
import {
  turnsOf,
  type GivenTurns,
  type JobWithoutTurn,
  type LastTurn,
  type TenantWeights,
} from "../../../core/control/fairness.ts";
import { FAIR_LANES_MAX, type FairLaneRecord } from "../../types/fairness.ts";
import { limitOwnerCodec } from "../codes.ts";

interface StoredFairLane {
  readonly lane: number;
  readonly weights: string;
  readonly owner: number;
  readonly by: string | null;
  readonly set_at: number;
}

/** The weights of tenants by their ids. */
type StoredWeights = Readonly<Record<string, number>>;

export function weightsOf({ weights }: Pick<StoredFairLane, "weights">): StoredWeights {
  return JSON.parse(weights);
}

export function fairLaneRecord(
  row: StoredFairLane,
  names: { text(id: number): string },
): FairLaneRecord {
  const weights = Object.entries(weightsOf(row)).map(([id, weight]): [string, number] => [
    names.text(Number(id)),
    weight,
  ]);
  return {
    lane: names.text(row.lane),
    weights: Object.fromEntries(weights.toSorted(([left], [right]) => (left < right ? -1 : 1))),
    owner: limitOwnerCodec.word(row.owner),
    by: row.by,
    setAt: row.set_at,
  };
}

export function byLane(left: FairLaneRecord, right: FairLaneRecord): number {
  return left.lane < right.lane ? -1 : 1;
}

/** The weights as they are stored, in the order of the ids. */
export function weightsText(weights: TenantWeights, idOf: (tenant: string) => number): string {
  const entries = Object.entries(weights).map(([tenant, weight]): [string, number] => [
    String(idOf(tenant)),
    weight,
  ]);
  return JSON.stringify(Object.fromEntries(entries));
}

/** Null and null are the same, and so are equal weights. */
export function sameWeights(left: string | null, right: string | null): boolean {
  if (left === null || right === null) return left === right;
  return JSON.stringify(JSON.parse(left)) === JSON.stringify(JSON.parse(right));
}

export function tooManyFairLanes(): MillraceError {
  return new MillraceError(
    "OPTION_INVALID",
    `there are ${FAIR_LANES_MAX} fair lanes already: remove one that is not needed`,
  );
}

interface WaitingRow extends JobWithoutTurn {
  readonly priority: number;
}

interface LastTurnRow {
  readonly priority: number;
  readonly tenant: number;
  readonly tag: number;
  readonly due: number;
  readonly back_tag: number;
}

/** What a store writes after it has read the jobs without a turn and the last turns. */
export interface TurnLists {
  /** Key, rank and due time of each job. */
  readonly turns: string;
  /** Priority, tenant, tag, due time and tag of returned jobs. */
  readonly last: string;
}

/** The turns of the first jobs of a lane, priority by priority. */
export function turnLists(
  lane: Pick<StoredFairLane, "weights">,
  jobs: readonly WaitingRow[],
  first: readonly { readonly priority: number; readonly rank: number | null }[],
  last: readonly LastTurnRow[],
): TurnLists {
  const weights = weightsOf(lane);
  const weightOf = (tenant: number): number => weights[tenant] ?? 1;
  const given = first.map(({ priority, rank: firstRank }): [number, GivenTurns] => {
    const own = jobs.filter((job) => job.priority === priority);
    const known = last.filter((turn) => turn.priority === priority).map(lastTurn);
    return [priority, turnsOf(own, { firstRank, last: known, weightOf })];
  });
  const turns = given.flatMap(([, each]) =>
    each.turns.map((turn) => [turn.key, turn.rank, turn.due]),
  );
  const lastTurns = given.flatMap(([priority, each]) =>
    each.last.map(({ tenant, tag, due, backTag }) => [priority, tenant, tag, due, backTag]),
  );
  return { turns: JSON.stringify(turns), last: JSON.stringify(lastTurns) };
}

function lastTurn({ tenant, tag, due, back_tag: backTag }: LastTurnRow): LastTurn {
  return { tenant, tag, due, backTag };
}

/** The tenants of jobs, each once. */
export function tenantIdsOf(jobs: readonly { readonly tenant: number }[]): readonly number[] {
  return [...new Set(jobs.map(({ tenant }) => tenant))];
}

/** The priorities of jobs, each once. */
export function prioritiesOf(jobs: readonly { readonly priority: number }[]): readonly number[] {
  return [...new Set(jobs.map(({ priority }) => priority))];
}
