import { describe, expect, test } from "vitest";
import {
  NO_QUEUE,
  RANK_OFFSET,
  rankByDue,
  tenantsServed,
  TURN_COST,
  turnsOf,
  type GivenTurns,
  type JobWithoutTurn,
} from "./fairness.ts";

const ACME = 1;
const BETA = 2;
/** The queue of a limit. */
const LIMIT = -8;
const EMPTY: GivenTurns = { turns: [], last: [] };

const even = (): number => 1;

function jobsOf(
  tenant: number,
  count: number,
  { due = 1_000, from = 0, queue = NO_QUEUE } = {},
): JobWithoutTurn[] {
  return Array.from({ length: count }, (_, index) => ({
    key: from + index,
    tenant,
    queue,
    due,
  }));
}

/** Gives turns after the turns that were given before. */
function after(
  before: GivenTurns,
  jobs: readonly JobWithoutTurn[],
  weightOf: (tenant: number) => number = even,
): GivenTurns {
  const firstRanks = new Map<number, number>();
  for (const { queue, rank } of before.turns) {
    firstRanks.set(queue, Math.min(rank, firstRanks.get(queue) ?? 0));
  }
  return turnsOf(jobs, { firstRanks, last: before.last, weightOf });
}

/** The keys in the order in which the jobs start: those with a turn, then the others. */
function order(
  jobs: readonly JobWithoutTurn[],
  ...given: readonly GivenTurns[]
): readonly number[] {
  const turns = given.flatMap((each) => each.turns);
  const known = new Set(turns.map(({ key }) => key));
  const others = jobs.filter(({ key }) => !known.has(key));
  return [
    ...turns.toSorted((a, b) => a.rank - b.rank || a.key - b.key),
    ...others.toSorted((a, b) => a.due - b.due || a.key - b.key),
  ].map(({ key }) => key);
}

describe("turns of a fair lane", () => {
  test("weights 3 and 1 give 3 jobs of one tenant for 1 of the other", () => {
    const jobs = [...jobsOf(ACME, 100), ...jobsOf(BETA, 100, { from: 1_000 })];
    const given = after(EMPTY, jobs, (tenant) => (tenant === ACME ? 3 : 1));
    const first = order(jobs, given).slice(0, 80);
    expect(first.filter((key) => key < 1_000)).toHaveLength(60);
  });

  test("are not needed by a tenant alone", () => {
    expect(after(EMPTY, jobsOf(ACME, 5))).toEqual(EMPTY);
  });

  test("are not needed by tenants whose jobs take turns by their due times", () => {
    const jobs = Array.from({ length: 30 }, (_, key) => ({
      key,
      tenant: key % 3,
      queue: NO_QUEUE,
      due: key,
    }));
    expect(after(EMPTY, jobs)).toEqual(EMPTY);
  });

  test("are given up to the last job that overtakes another", () => {
    const jobs = [...jobsOf(ACME, 50), ...jobsOf(BETA, 2, { due: 2_000, from: 5_000 })];
    const given = after(EMPTY, jobs);
    expect(given.turns.map(({ key }) => key)).toEqual([0, 5_000, 1, 5_001]);
    expect(given.turns.every(({ rank }) => rank < 0)).toBe(true);
    expect(given.last.map(({ tenant, tag }) => [tenant, tag / TURN_COST])).toEqual([
      [ACME, 2],
      [BETA, 2],
    ]);
  });

  test("let a job wait for at most 1 % of the jobs that it should overtake", () => {
    const late = (count: number): readonly JobWithoutTurn[] => [
      ...jobsOf(ACME, count),
      ...jobsOf(BETA, 1, { from: 5_000 }),
      ...jobsOf(ACME, 999 - count, { from: 6_000 }),
    ];
    expect(after(EMPTY, late(11)).turns).toEqual([]);
    expect(after(EMPTY, late(12)).turns.map(({ key }) => key)).toEqual([0, 5_000]);
  });

  test("a newcomer starts at the first turn that waits, and not behind the backlog", () => {
    const flood = [...jobsOf(ACME, 1_000), ...jobsOf(BETA, 900, { from: 2_000 })];
    const both = after(EMPTY, flood);
    // 500 jobs of each tenant have started.
    const rest = { ...both, turns: both.turns.slice(1_000) };
    const late = after(rest, jobsOf(3, 2, { due: 2_000, from: 5_000 }));
    expect(order([], rest, late).slice(0, 6)).toEqual([500, 2_500, 501, 2_501, 5_000, 502]);
  });

  test("later jobs of a tenant come after its earlier ones", () => {
    const jobs = [...jobsOf(ACME, 3), ...jobsOf(BETA, 3, { from: 50 })];
    const first = after(EMPTY, jobs);
    const later = jobsOf(ACME, 3, { due: 2_000, from: 100 });
    const second = after(first, later);
    const acme = order([...jobs, ...later], first, second).filter((key) => key < 50 || key > 99);
    expect(acme).toEqual([0, 1, 2, 100, 101, 102]);
  });

  test("a job that comes back does not go behind the backlog of its tenant", () => {
    const rival = jobsOf(BETA, 2_000, { from: 10_000 });
    const flood = after(EMPTY, [...rival, ...jobsOf(ACME, 1_000, { due: 3_000 })]);
    const back = after(flood, jobsOf(ACME, 2, { due: 900, from: 5_000 }));
    expect(order([], flood, back).indexOf(5_000)).toBe(3);
    expect(order([], flood, back).indexOf(5_001)).toBe(6);
  });

  test("tags start again when no job has a turn", () => {
    const jobs = [...jobsOf(ACME, 3), ...jobsOf(BETA, 1, { from: 50 })];
    const first = after(EMPTY, jobs);
    const again = after({ turns: [], last: first.last }, jobs);
    expect(again).toEqual(first);
  });

  test("the last turn of a tenant is forgotten when the clock has passed it", () => {
    const tag = (turns: number): number => turns * TURN_COST;
    const last = [
      { tenant: BETA, queue: NO_QUEUE, tag: tag(10), due: 0, backTag: 0 },
      { tenant: 4, queue: NO_QUEUE, tag: tag(60), due: 0, backTag: 0 },
    ];
    const turns = [{ key: 1, queue: NO_QUEUE, rank: tag(50) - RANK_OFFSET, due: 0 }];
    const more = after({ turns, last }, jobsOf(ACME, 1));
    expect(more.last.map(({ tenant }) => tenant)).toEqual([4, ACME]);
  });

  test("a job takes turns with jobs in the queue of a limit", () => {
    const jobs = [...jobsOf(ACME, 100, { queue: LIMIT }), ...jobsOf(BETA, 2, { from: 5_000 })];
    expect(order(jobs, after(EMPTY, jobs)).slice(0, 5)).toEqual([0, 5_000, 1, 5_001, 2]);
  });

  test("a newcomer has no credit because the queue of a limit stands still", () => {
    const queued = [
      ...jobsOf(ACME, 9, { queue: LIMIT }),
      ...jobsOf(BETA, 9, { queue: LIMIT, from: 50 }),
    ];
    const still = after(EMPTY, queued);
    const flood = [...jobsOf(ACME, 90, { from: 100 }), ...jobsOf(BETA, 90, { from: 200 })];
    const moving = after(still, flood);
    // 80 jobs of each tenant have started, none of them from the queue of the limit.
    const rest = { ...moving, turns: [...still.turns, ...moving.turns.slice(160)] };
    const late = after(rest, jobsOf(3, 5, { from: 500 }));
    const others = order([], rest, late).filter((key) => key >= 100);
    expect(others.slice(0, 6)).toEqual([180, 280, 181, 281, 500, 182]);
  });

  test("a newcomer in the queue of a limit starts at the first turn there", () => {
    const flood = [...jobsOf(ACME, 90, { from: 100 }), ...jobsOf(BETA, 90, { from: 200 })];
    const moving = after(EMPTY, flood);
    const rest = { ...moving, turns: moving.turns.slice(160) };
    const queued = [
      ...jobsOf(ACME, 9, { queue: LIMIT, from: 300 }),
      ...jobsOf(BETA, 9, { queue: LIMIT, from: 350 }),
    ];
    const still = after(rest, queued);
    const both = { turns: [...rest.turns, ...still.turns], last: still.last };
    const late = after(both, jobsOf(3, 1, { queue: LIMIT, from: 500 }));
    const ofQueue = order([], both, late).filter((key) => key >= 300);
    expect(ofQueue.indexOf(500)).toBe(4);
  });

  test("a queue in which no turn waits goes on behind its last turn", () => {
    const still = after(EMPTY, [
      ...jobsOf(ACME, 2, { queue: LIMIT }),
      ...jobsOf(BETA, 2, { queue: LIMIT, from: 50 }),
    ]);
    const flood = [...jobsOf(ACME, 90, { from: 100 }), ...jobsOf(BETA, 90, { from: 200 })];
    const moving = after(still, flood);
    const empty = { turns: still.turns, last: moving.last };
    const late = after(empty, [...jobsOf(ACME, 30, { from: 600 }), ...jobsOf(3, 1, { from: 700 })]);
    const passed = Math.max(...moving.turns.map(({ rank }) => rank));
    expect(late.turns.map(({ key, rank }) => [key, rank - passed])).toEqual([
      [600, TURN_COST],
      [700, TURN_COST],
    ]);
  });

  test("tags never reach the ranks of jobs without a turn", () => {
    const last = [
      { tenant: ACME, queue: NO_QUEUE, tag: RANK_OFFSET - 5, due: 0, backTag: 0 },
      { tenant: BETA, queue: NO_QUEUE, tag: RANK_OFFSET - 1, due: 0, backTag: 0 },
    ];
    const given = turnsOf(jobsOf(ACME, 1), {
      firstRanks: new Map([[NO_QUEUE, -9]]),
      last,
      weightOf: even,
    });
    expect(given.turns[0]?.rank).toBe(-1);
  });

  test("the rank by due time", () => {
    expect(rankByDue(5_000_123, null)).toBe(5_000_123);
    expect(rankByDue(-7, 5_000)).toBe(5_000_000);
  });
});

describe("the tenants that are served", () => {
  test("have at least half of their share of the oldest jobs", () => {
    const oldest = [...jobsOf(ACME, 75), ...jobsOf(BETA, 25), ...jobsOf(3, 5)];
    expect(tenantsServed(oldest, even)).toEqual([ACME, BETA]);
    expect(tenantsServed(oldest, (tenant) => (tenant === BETA ? 5 : 1))).toEqual([ACME]);
  });
});
