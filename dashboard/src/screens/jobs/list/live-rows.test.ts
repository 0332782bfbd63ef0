import { describe, expect, test } from "vitest";
import { mergeRows } from "./live-rows.ts";

const job = (n: number, state = "queued"): any => ({
  id: `job${n}`,
  state,
  createdAt: new Date(n * 1_000).toISOString(),
});

describe("a list that is read again", () => {
  test("keeps its rows in place and updates them", () => {
    const merged = mergeRows([job(3), job(2), job(1)], [job(5), job(4), job(3, "running"), job(2)]);
    expect(merged.rows.map(({ id, state }) => [id, state])).toEqual([
      ["job3", "running"],
      ["job2", "queued"],
      ["job1", "queued"],
    ]);
    expect(merged.fresh).toBe(2);
    expect(merged.hasMoreFresh).toBe(false);
    expect(merged.missing).toEqual(["job1"]);
  });

  test("shows the first rows of an empty list at once", () => {
    expect(mergeRows([], [job(2)])).toMatchObject({ rows: [job(2)], fresh: 0 });
  });

  test("knows that there are more new jobs than the answer has", () => {
    const merged = mergeRows([job(1)], [job(9), job(8)]);
    expect(merged).toMatchObject({ fresh: 2, hasMoreFresh: true, missing: ["job1"] });
  });

  test("counts nothing as new when all rows have left", () => {
    expect(mergeRows([job(3), job(2)], [])).toMatchObject({ fresh: 0, hasMoreFresh: false });
    expect(mergeRows([job(3)], [job(1)])).toMatchObject({ fresh: 0, hasMoreFresh: false });
  });
});
