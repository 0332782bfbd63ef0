/**
 * Fair lanes: the turns of jobs, by self-clocked fair queueing.
 *
 * Each job of a fair lane gets a tag, and jobs start in the order of their tags. The tag of a job
 * is the tag of the job before it of the same tenant, plus a cost: the cost is smaller, the larger
 * the weight of the tenant. So tenants start jobs in proportion to their weights. The clock of a
 * lane and priority is the first tag that waits. A tenant that had no job starts at the clock: it
 * gets no credit for the time before, and does not wait for the backlog of others.
 *
 * A turn is a write, so jobs get one only where the order of their due times is not fair: the last
 * jobs by tag that are in the order of their due times anyway have no turn, and start after those
 * with one.
 *
 * The queue of a limit that is used up stands still while others start. So each queue of a lane has
 * a clock of its own, and the last tags of its tenants, but the tags of all queues are one order.
 */

/** What one job of a tenant with weight 1 costs. */
export const TURN_COST = 1_000_000;
/** The rank of a job with a turn is its tag minus this: below the rank of each job without one. */
export const RANK_OFFSET = 4_000_000_000_000_000;
/** Below the ranks of all jobs with a turn. */
export const RANK_START: number = -RANK_OFFSET;
/** The place of jobs that are in the queue of no limit. */
export const NO_QUEUE = 0;
export const WEIGHT_MAX = 1_000;
/** A job without a turn may have to wait for this share of the jobs that were looked at. */
const SLACK_SHARE = 0.01;
/** A tenant with less than this part of its share of the oldest jobs has too few of them. */
const SERVED_SHARE = 0.5;
/** Of the jobs that a lane with `ageing` starts, one of so many is the oldest. */
export const AGEING_SHARE = 10;

/** The weights of tenants by their names. A tenant without one has weight 1. */
export type TenantWeights = Readonly<Record<string, number>>;

/** A due job of a fair lane without a turn. */
export interface JobWithoutTurn {
  readonly key: number;
  readonly tenant: number;
  /** The queue of a limit, or {@link NO_QUEUE}. */
  readonly queue: number;
  /** In milliseconds. */
  readonly due: number;
}

/** The last turn of a tenant in a lane and priority, for each queue. */
export interface LastTurn {
  readonly tenant: number;
  readonly queue: number;
  readonly tag: number;
  /** When the newest job with a turn was due. */
  readonly due: number;
  /** The tag of the last job that has come back. */
  readonly backTag: number;
}

/** The turns of one lane and priority. */
export interface LaneTurns {
  /** The rank of the first job with a turn in each queue that has one. */
  readonly firstRanks: ReadonlyMap<number, number>;
  readonly last: readonly LastTurn[];
  readonly weightOf: (tenant: number) => number;
}

/** The rank of a job with a turn, and its due time. */
export interface JobTurn {
  readonly key: number;
  readonly queue: number;
  readonly rank: number;
  readonly due: number;
}

export interface GivenTurns {
  readonly turns: readonly JobTurn[];
  readonly last: readonly LastTurn[];
}

/** A job and the tag that it would have. */
interface TaggedJob extends JobWithoutTurn {
  readonly tag: number;
  readonly isBack: boolean;
  /** The position in the order of due times. */
  readonly place: number;
}

/**
 * Gives turns to jobs, which are in the order of their due times, except to those that start in a
 * fair order without one. If no job has a turn, the tags start at 0 again.
 *
 * A job that was due before the newest job of its tenant has come back: from a gate, a lock, a
 * prefetch. It does not go behind the whole backlog of its tenant, but has a place near the clock.
 * Such jobs are a second flow of the tenant, so a tenant never gets more than twice its share.
 */
export function turnsOf(jobs: readonly JobWithoutTurn[], lane: LaneTurns): GivenTurns {
  const { firstRanks, weightOf } = lane;
  const known = new Map(
    firstRanks.size === 0 ? [] : lane.last.map((turn) => [flowOf(turn), turn] as const),
  );
  const clockOf = clocksOf(firstRanks, [...known.values()]);
  const tagged = tagsOf(jobs, { clockOf, known, weightOf });
  const given = unfairStart(tagged, lastTag(known.values()));
  const last = withGiven(known, given, clockOf);
  // A tenant whose tags the clock has passed starts at the clock again.
  const kept = [...last.values()].filter(
    ({ queue, tag, backTag }) => Math.max(tag, backTag) >= clockOf(queue),
  );
  const turns = given.map(({ key, queue, tag, due }) => ({
    key,
    queue,
    rank: tag - RANK_OFFSET,
    due,
  }));
  return { turns, last: kept };
}

/** The jobs of a tenant in one queue. */
type Flow = `${number} ${number}`;

function flowOf({ queue, tenant }: Pick<JobWithoutTurn, "queue" | "tenant">): Flow {
  return `${queue} ${tenant}`;
}

/**
 * The clock of each queue: its first tag that waits. A queue in which no tag waits has passed all
 * tags that were given there.
 */
function clocksOf(
  firstRanks: ReadonlyMap<number, number>,
  last: readonly LastTurn[],
): (queue: number) => number {
  const first = firstRanks.size === 0 ? 0 : Math.min(...firstRanks.values()) + RANK_OFFSET;
  const clocks = new Map([...firstRanks].map(([queue, rank]) => [queue, rank + RANK_OFFSET]));
  return (queue) => {
    const known = clocks.get(queue);
    if (known !== undefined) return known;
    const clock = Math.max(first, lastTag(last.filter((turn) => turn.queue === queue)));
    clocks.set(queue, clock);
    return clock;
  };
}

interface Tags {
  readonly clockOf: (queue: number) => number;
  readonly known: ReadonlyMap<Flow, LastTurn>;
  readonly weightOf: (tenant: number) => number;
}

/** The jobs with the tags that they would have, in the order of the tags. */
function tagsOf(jobs: readonly JobWithoutTurn[], { clockOf, known, weightOf }: Tags): TaggedJob[] {
  const last = new Map(known);
  const tagged = jobs.map((job, place) => {
    const clock = clockOf(job.queue);
    const before = last.get(flowOf(job)) ?? noTurn(job, clock);
    const cost = Math.floor(TURN_COST / weightOf(job.tenant));
    const isBack = job.due < before.due;
    const tag = nextTag(clock, isBack ? before.backTag : before.tag, cost);
    const { due } = job;
    last.set(flowOf(job), isBack ? { ...before, backTag: tag } : { ...before, tag, due });
    return { ...job, tag, isBack, place };
  });
  return tagged.toSorted((left, right) => left.tag - right.tag || left.place - right.place);
}

function noTurn({ tenant, queue }: JobWithoutTurn, clock: number): LastTurn {
  return { tenant, queue, tag: clock, due: 0, backTag: clock };
}

function lastTag(turns: Iterable<LastTurn>): number {
  let last = 0;
  for (const { tag, backTag } of turns) last = Math.max(last, tag, backTag);
  return last;
}

/**
 * The jobs that need a turn: all but the longest tail that is behind all given tags, and in which
 * no job waits for more than a few jobs that it should overtake.
 */
function unfairStart(tagged: readonly TaggedJob[], givenTag: number): readonly TaggedJob[] {
  const slack = Math.floor(tagged.length * SLACK_SHARE);
  /** The first places of the tail, in order; enough to tell whether a job overtakes too many. */
  const first: number[] = [];
  let end = tagged.length;
  for (; end > 0; end -= 1) {
    const { tag, place } = tagged[end - 1]!;
    const overtaken = first.filter((other) => other < place).length;
    if (tag <= givenTag || overtaken > slack) break;
    first.splice(overtaken, 0, place);
    first.length = Math.min(first.length, slack + 1);
  }
  return tagged.slice(0, end);
}

/** The last turns of the tenants after these turns, which are in the order of their tags. */
function withGiven(
  known: ReadonlyMap<Flow, LastTurn>,
  given: readonly TaggedJob[],
  clockOf: (queue: number) => number,
): ReadonlyMap<Flow, LastTurn> {
  const last = new Map(known);
  for (const job of given) {
    const { tag, due, isBack } = job;
    const before = last.get(flowOf(job)) ?? noTurn(job, clockOf(job.queue));
    last.set(flowOf(job), isBack ? { ...before, backTag: tag } : { ...before, tag, due });
  }
  return last;
}

/**
 * The tenants that have enough of the oldest jobs of a lane. Jobs of all other tenants may have to
 * overtake them, wherever they wait.
 */
export function tenantsServed(
  oldest: readonly { readonly tenant: number }[],
  weightOf: (tenant: number) => number,
): readonly number[] {
  const counts = new Map<number, number>();
  for (const { tenant } of oldest) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  const weights = [...counts.keys()].reduce((sum, tenant) => sum + weightOf(tenant), 0);
  return [...counts].flatMap(([tenant, count]) => {
    const share = (oldest.length * weightOf(tenant)) / weights;
    return count >= share * SERVED_SHARE ? [tenant] : [];
  });
}

/** Tags end below the ranks of jobs without a turn, after some billion jobs without a pause. */
function nextTag(clock: number, before: number, cost: number): number {
  return Math.min(Math.max(clock, before) + cost, RANK_OFFSET - 1);
}

/** The rank of a job by its due time, whether or not it has a turn. */
export function rankByDue(rank: number, due: number | null): number {
  return due === null ? rank : due * 1_000;
}
