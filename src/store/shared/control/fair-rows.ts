/** Fair lanes as both databases store them. */
import { MillraceError } from "../../../core/errors.ts";
import {
  NO_QUEUE,
  tenantsServed,
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

/** A job of a fair lane without a turn: its rank is its due time in microseconds. */
interface FairJobRow {
  readonly key: number;
  readonly priority: number;
  readonly rank: number;
  readonly tenant: number;
  /** The queue of a limit; 0: the job is in none. */
  readonly queue: number;
}

/** The position of a job in its lane. */
export type LanePlace = Pick<FairJobRow, "priority" | "rank" | "key">;

/** The tenants that have enough of the oldest jobs of a lane. */
export function servedIn(
  lane: Pick<StoredFairLane, "weights">,
  oldest: readonly FairJobRow[],
): readonly number[] {
  return tenantsServed(oldest, weightIn(lane));
}

function weightIn(lane: Pick<StoredFairLane, "weights">): (tenant: number) => number {
  const weights = weightsOf(lane);
  return (tenant) => weights[tenant] ?? 1;
}

interface LaterRow extends FairJobRow {
  readonly place: number;
}

/** Where the next look for later jobs starts. Null: the lane was seen up to its end. */
export function nextLook(later: readonly LaterRow[], limit: number): LanePlace | null {
  const last = later.at(-1);
  if (last?.place !== limit) return null;
  const { priority, rank, key } = last;
  return { priority, rank, key };
}

/** Where a look for later jobs starts: where the last one ended, but not before the oldest jobs. */
export function laterStart(oldest: readonly LanePlace[], seen: LanePlace | undefined): LanePlace {
  const last = oldest.at(-1)!;
  return seen !== undefined && isBefore(last, seen) ? seen : last;
}

function isBefore(left: LanePlace, right: LanePlace): boolean {
  if (left.priority !== right.priority) return left.priority < right.priority;
  return left.rank === right.rank ? left.key < right.key : left.rank < right.rank;
}

/** The oldest jobs, and up to as many of tenants that have too few of them, in their order. */
export function candidatesOf(
  oldest: readonly FairJobRow[],
  others: readonly FairJobRow[],
  served: readonly number[],
): readonly FairJobRow[] {
  const isServed = new Set(served);
  const known = new Set(oldest.map(({ key }) => key));
  const added = new Map<number, FairJobRow>();
  for (const row of others) {
    if (!known.has(row.key) && !isServed.has(row.tenant)) added.set(row.key, row);
  }
  return [...oldest, ...inOrder([...added.values()]).slice(0, oldest.length)];
}

/** Jobs in the order of priorities and due times. */
export function inOrder(jobs: readonly FairJobRow[]): readonly FairJobRow[] {
  return jobs.toSorted((left, right) => (isBefore(left, right) ? -1 : 1));
}

interface LastTurnRow {
  readonly priority: number;
  readonly queue: number;
  readonly tenant: number;
  readonly tag: number;
  readonly due: number;
  readonly back_tag: number;
}

/** What a store writes after it has read the jobs without a turn and the last turns. */
export interface TurnLists {
  readonly count: number;
  /** Key, rank, due time and queue of each job. */
  readonly turns: string;
  /** The turns of jobs in the queues of limits. */
  readonly queueTurns: string | null;
  /** Priority, queue, tenant, tag, due time and tag of returned jobs. */
  readonly last: string;
}

interface FirstTurnRow {
  readonly priority: number;
  readonly queue: number;
  readonly rank: number | null;
}

/** The turns of the first jobs of a lane, priority by priority. */
export function turnLists(
  lane: Pick<StoredFairLane, "weights">,
  jobs: readonly FairJobRow[],
  first: readonly FirstTurnRow[],
  last: readonly LastTurnRow[],
): TurnLists {
  const weightOf = weightIn(lane);
  const given = prioritiesOf(jobs).map((priority): [number, GivenTurns] => {
    const own = jobs.filter((job) => job.priority === priority).map(withoutTurn);
    const known = last.filter((turn) => turn.priority === priority).map(lastTurn);
    const firstRanks = firstRanksOf(first.filter((row) => row.priority === priority));
    return [priority, turnsOf(own, { firstRanks, last: known, weightOf })];
  });
  const turns = given.flatMap(([, each]) =>
    each.turns.map(({ key, rank, due, queue }) => [key, rank, due, queue]),
  );
  const queued = turns.filter(([, , , queue]) => queue !== NO_QUEUE);
  const lastTurns = given.flatMap(([priority, each]) =>
    each.last.map(({ queue, tenant, tag, due, backTag }) => [
      priority,
      queue,
      tenant,
      tag,
      due,
      backTag,
    ]),
  );
  return {
    count: turns.length,
    turns: JSON.stringify(turns),
    queueTurns: queued.length === 0 ? null : JSON.stringify(queued),
    last: JSON.stringify(lastTurns),
  };
}

function firstRanksOf(rows: readonly FirstTurnRow[]): ReadonlyMap<number, number> {
  return new Map(rows.flatMap(({ queue, rank }) => (rank === null ? [] : [[queue, rank]])));
}

function withoutTurn({ key, tenant, queue, rank }: FairJobRow): JobWithoutTurn {
  return { key, tenant, queue, due: Math.floor(rank / 1_000) };
}

function lastTurn({ queue, tenant, tag, due, back_tag: backTag }: LastTurnRow): LastTurn {
  return { queue, tenant, tag, due, backTag };
}

/** The queues of limits that jobs are in, each once. */
export function queuesOf(jobs: readonly FairJobRow[]): readonly number[] {
  return [...new Set(jobs.map(({ queue }) => queue))].filter((queue) => queue !== NO_QUEUE);
}

/** The priorities of jobs, each once. */
export function prioritiesOf(jobs: readonly { readonly priority: number }[]): readonly number[] {
  return [...new Set(jobs.map(({ priority }) => priority))];
}
