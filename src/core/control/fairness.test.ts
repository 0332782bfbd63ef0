import { describe, expect, test } from "vitest";
import {
  RANK_OFFSET,
  rankByDue,
  TURN_COST,
  turnsOf,
  type GivenTurns,
  type JobWithoutTurn,
} from "./fairness.ts";

const ACME = 1;
const BETA = 2;
const EMPTY: GivenTurns = { turns: [], last: [] };

const even = (): number => 1;

function jobsOf(tenant: number, count: number, { due = 1_000, from = 0 } = {}): JobWithoutTurn[] {
  return Array.from({ length: count }, (_, index) => ({ key: from + index, tenant, due }));
}

/** Gives turns after the turns that were given before. */
function after(
  before: GivenTurns,
  jobs: readonly JobWithoutTurn[],
  weightOf: (tenant: number) => number = even,
): GivenTurns {
  const ranks = before.turns.map(({ rank }) => rank);
  const firstRank = ranks.length === 0 ? null : Math.min(...ranks);
  return turnsOf(jobs, { firstRank, last: before.last, weightOf });
}

/** The keys in the order in which the jobs start. */
function order(...given: readonly GivenTurns[]): readonly number[] {
  const turns = given.flatMap((each) => each.turns);
  return turns.toSorted((a, b) => a.rank - b.rank || a.key - b.key).map(({ key }) => key);
}

describe("turns of a fair lane", () => {
  test("weights 3 and 1 give 3 jobs of one tenant for 1 of the other", () => {
    const jobs = [...jobsOf(ACME, 100), ...jobsOf(BETA, 100, { from: 1_000 })];
    const given = after(EMPTY, jobs, (tenant) => (tenant === ACME ? 3 : 1));
    const first = order(given).slice(0, 80);
    expect(first.filter((key) => key < 1_000)).toHaveLength(60);
  });

  test("a tenant alone starts its jobs in the order of their due times", () => {
    const given = after(EMPTY, jobsOf(ACME, 5));
    expect(order(given)).toEqual([0, 1, 2, 3, 4]);
    expect(given.turns.every(({ rank, due }) => rank < 0 && due === 1_000)).toBe(true);
  });

  test("a newcomer starts at the first turn that waits, and not behind the backlog", () => {
    const flood = after(EMPTY, jobsOf(ACME, 1_000));
    // 500 jobs of the flood have started.
    const rest = { ...flood, turns: flood.turns.slice(500) };
    const late = after(rest, jobsOf(BETA, 2, { due: 2_000, from: 5_000 }));
    expect(order(rest, late).slice(0, 5)).toEqual([500, 501, 5_000, 502, 5_001]);
  });

  test("later jobs of a tenant come after its earlier ones", () => {
    const first = after(EMPTY, jobsOf(ACME, 3));
    const second = after(first, jobsOf(ACME, 3, { due: 2_000, from: 100 }));
    expect(order(first, second)).toEqual([0, 1, 2, 100, 101, 102]);
  });

  test("a job that comes back does not go behind the backlog of its tenant", () => {
    const flood = after(EMPTY, [...jobsOf(ACME, 1_000), ...jobsOf(ACME, 1, { due: 3_000 })]);
    const back = after(flood, jobsOf(ACME, 2, { due: 900, from: 5_000 }));
    expect(order(flood, back).indexOf(5_000)).toBe(2);
    expect(order(flood, back).indexOf(5_001)).toBe(4);
  });

  test("tags start again when no job has a turn", () => {
    const first = after(EMPTY, jobsOf(ACME, 3));
    const again = after({ turns: [], last: first.last }, jobsOf(ACME, 1));
    expect(again.turns[0]?.rank).toBe(TURN_COST - RANK_OFFSET);
  });

  test("the last turn of a tenant is forgotten when the clock has passed it", () => {
    const both = after(EMPTY, [...jobsOf(BETA, 1, { from: 9_000 }), ...jobsOf(ACME, 10)]);
    const rest = { ...both, turns: both.turns.filter(({ key }) => key >= 5 && key < 9_000) };
    const next = after(rest, jobsOf(ACME, 1, { due: 2_000, from: 100 }));
    expect(next.last.map(({ tenant }) => tenant)).toEqual([ACME]);
  });

  test("tags never reach the ranks of jobs without a turn", () => {
    const last = [{ tenant: ACME, tag: RANK_OFFSET - 5, due: 0, backTag: 0 }];
    const given = turnsOf(jobsOf(ACME, 1), { firstRank: -9, last, weightOf: even });
    expect(given.turns[0]?.rank).toBe(-1);
  });

  test("the rank by due time", () => {
    expect(rankByDue(5_000_123, null)).toBe(5_000_123);
    expect(rankByDue(-7, 5_000)).toBe(5_000_000);
  });
});
