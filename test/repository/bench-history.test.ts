import { describe, expect, test } from "vitest";
import { ratiosOf } from "../../bench/history.ts";
import { peerContests } from "../../bench/peers.ts";
import type { Row } from "../../bench/report.ts";
import { shapeContests } from "../../bench/shapes.ts";
import type { Contest } from "../../bench/side-by-side.ts";

const STORES = ["sqlite", "postgres"] as const;

describe("the kept ratios of the benchmarks", () => {
  test.each([
    { suite: "shapes", contests: shapeContests(STORES, { beside: null }) },
    { suite: "peers", contests: STORES.flatMap((store) => peerContests(store, { slow: true })) },
  ])("have a name of their own in $suite", ({ contests }) => {
    const names = ratiosOf(contests.flatMap(rowsOf)).map(({ name }) => name);

    // Without Redis and its contestant there are fewer.
    expect(names.length).toBeGreaterThan(5);
    expect(names).toEqual([...new Set(names)]);
  });
});

/** The rows of a contest in which every contestant was equally fast. */
function rowsOf({ rows, entrants: [, ...others] }: Contest): Row[] {
  const same = others.map(({ name }) => ({ name, values: [1], ratios: [1], target: null }));
  return rows.map((row) => ({ ...row, ours: [1], others: same, bound: null }));
}
