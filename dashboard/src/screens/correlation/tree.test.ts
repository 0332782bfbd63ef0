import { describe, expect, test } from "vitest";
import { barsOf, spanOf, treeOf } from "./tree.ts";

const at = (seconds: number) => new Date(seconds * 1_000).toISOString();

function job(id: string, created: number, changes: object = {}): any {
  return {
    id,
    parentId: null,
    state: "completed",
    createdAt: at(created),
    startedAt: null,
    finishedAt: null,
    ...changes,
  };
}

describe("the tree of a correlation", () => {
  test("has parents before their children, older before newer", () => {
    const jobs = [
      job("c2", 4, { parentId: "a" }),
      job("b", 3),
      job("c1", 2, { parentId: "a" }),
      job("d", 5, { parentId: "c1" }),
      job("a", 1),
      job("lost", 6, { parentId: "removed" }),
    ];
    expect(treeOf(jobs).map(({ job: { id }, depth }) => `${id}${depth}`)).toEqual([
      "a0",
      "c11",
      "d2",
      "c21",
      "b0",
      "lost0",
    ]);
  });

  test("ends, also when jobs name each other as parents", () => {
    const jobs = [job("a", 1, { parentId: "b" }), job("b", 2, { parentId: "a" }), job("c", 3)];
    expect(treeOf(jobs).map(({ job: { id } }) => id)).toEqual(["c"]);
  });
});

describe("the bars of a correlation", () => {
  test("show waiting and running as shares of the whole", () => {
    const jobs = [job("a", 0, { startedAt: at(10), finishedAt: at(100) })];
    const span = spanOf(jobs, 500_000);
    expect(span).toEqual({ from: 0, to: 100_000 });
    expect(barsOf(jobs[0], span, 500_000)).toEqual([
      { from: 0, to: 0.1, tone: "wait" },
      { from: 0.1, to: 1, tone: "run" },
    ]);
  });

  test("reach to now while a job runs or waits", () => {
    const running = job("a", 0, { state: "running", startedAt: at(50) });
    const waiting = job("b", 50, { state: "queued" });
    const span = spanOf([running, waiting], 100_000);
    expect(barsOf(running, span, 100_000).at(-1)).toEqual({ from: 0.5, to: 1, tone: "run" });
    expect(barsOf(waiting, span, 100_000)).toEqual([{ from: 0.5, to: 1, tone: "wait" }]);
  });

  test("mark a failed job, and never turn round when clocks differ", () => {
    const failed = job("a", 10, { state: "failed", startedAt: at(5), finishedAt: at(12) });
    const span = spanOf([failed], 0);
    const bars = barsOf(failed, span, 0);
    expect(bars.at(-1)?.tone).toBe("failed");
    for (const { from, to } of bars) expect(from).toBeLessThanOrEqual(to);
  });
});
