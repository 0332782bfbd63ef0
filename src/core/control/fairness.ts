/**
 * Fair lanes: the turns of jobs, by self-clocked fair queueing.
 *
 * Each job of a fair lane gets a tag, and jobs start in the order of their tags. The tag of a job
 * is the tag of the job before it of the same tenant, plus a cost: the cost is smaller, the larger
 * the weight of the tenant. So tenants start jobs in proportion to their weights. The clock of a
 * lane and priority is the first tag that waits. A tenant that had no job starts at the clock: it
 * gets no credit for the time before, and does not wait for the backlog of others.
 */

/** What one job of a tenant with weight 1 costs. */
export const TURN_COST = 1_000_000;
/** The rank of a job with a turn is its tag minus this: below the rank of each job without one. */
export const RANK_OFFSET = 4_000_000_000_000_000;
/** Below the ranks of all jobs with a turn. */
export const RANK_START: number = -RANK_OFFSET;
/** What the rank of a job in the queue of a limit loses in a fair lane, to be before all turns. */
export const QUEUE_OFFSET = 9_000_000_000_000_000;
export const WEIGHT_MAX = 1_000;
/** Of the jobs that a lane with `ageing` starts, one of so many is the oldest. */
export const AGEING_SHARE = 10;

/** The weights of tenants by their names. A tenant without one has weight 1. */
export type TenantWeights = Readonly<Record<string, number>>;

/** A due job of a fair lane without a turn. */
export interface JobWithoutTurn {
  readonly key: number;
  readonly tenant: number;
  /** In milliseconds. */
  readonly due: number;
}

/** The last turn of a tenant in a lane and priority. */
export interface LastTurn {
  readonly tenant: number;
  readonly tag: number;
  /** When the newest job with a turn was due. */
  readonly due: number;
  /** The tag of the last job that has come back. */
  readonly backTag: number;
}

/** The turns of one lane and priority. */
export interface LaneTurns {
  /** The rank of the first job with a turn; null: no job has one. */
  readonly firstRank: number | null;
  readonly last: readonly LastTurn[];
  readonly weightOf: (tenant: number) => number;
}

/** The rank of a job with a turn, and its due time. */
export interface JobTurn {
  readonly key: number;
  readonly rank: number;
  readonly due: number;
}

export interface GivenTurns {
  readonly turns: readonly JobTurn[];
  readonly last: readonly LastTurn[];
}

/**
 * Gives turns to jobs, which are in the order of their due times. If no job has a turn, the tags
 * start at 0 again.
 *
 * A job that was due before the newest job of its tenant has come back: from a gate, a lock, a
 * prefetch. It does not go behind the whole backlog of its tenant, but has a place near the clock.
 * Such jobs are a second flow of the tenant, so a tenant never gets more than twice its share.
 */
export function turnsOf(jobs: readonly JobWithoutTurn[], lane: LaneTurns): GivenTurns {
  const { firstRank, weightOf } = lane;
  const clock = firstRank === null ? 0 : firstRank + RANK_OFFSET;
  const known = firstRank === null ? [] : lane.last;
  const last = new Map(known.map((turn) => [turn.tenant, turn]));
  const turns = jobs.map(({ key, tenant, due }) => {
    const before = last.get(tenant) ?? { tenant, tag: clock, due: 0, backTag: clock };
    const cost = Math.floor(TURN_COST / weightOf(tenant));
    const isBack = due < before.due;
    const tag = nextTag(clock, isBack ? before.backTag : before.tag, cost);
    last.set(tenant, isBack ? { ...before, backTag: tag } : { ...before, tag, due });
    return { key, rank: tag - RANK_OFFSET, due };
  });
  // A tenant whose tags the clock has passed starts at the clock again.
  const kept = [...last.values()].filter(({ tag, backTag }) => Math.max(tag, backTag) > clock);
  return { turns, last: kept };
}

/** Tags end below the ranks of jobs without a turn, after some billion jobs without a pause. */
function nextTag(clock: number, before: number, cost: number): number {
  return Math.min(Math.max(clock, before) + cost, RANK_OFFSET - 1);
}

/** The rank of a job by its due time, whether or not it has a turn. */
export function rankByDue(rank: number, due: number | null): number {
  return due === null ? rank : due * 1_000;
}
