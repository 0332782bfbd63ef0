import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { NO_TESTS, summary } from "../../scripts/lib/summary.ts";
import type { ProjectRun } from "../../scripts/lib/summary.ts";

describe("the summary of a test run", () => {
  test("closes with the totals, alone on a line", () => {
    const runs = [projectRun({ passed: 12 }), projectRun({ passed: 3 })];

    expect(lines(runs).at(-1)).toBe("15 passed, 0 failed");
  });

  test("counts and explains what was skipped", () => {
    const skipped = [{ name: "the bin > runs on Node 20", reason: "there is none here" }];
    const text = lines([projectRun({ passed: 1, skipped })]);

    expect(text).toContain("skipped: the bin > runs on Node 20 (there is none here)");
    expect(text.at(-1)).toBe("1 passed, 0 failed, 1 skipped");
  });

  test("fails when a test failed, and says which", () => {
    const failed = ["a.test.ts > adds", "b.test.ts"];
    const runs = [projectRun({ passed: 1, failed }, { exitCode: 1 })];

    expect(lines(runs)).toContain("failed: a.test.ts > adds");
    expect(lines(runs)).toContain("failed: b.test.ts");
    expect(lines(runs).at(-1)).toBe("1 passed, 2 failed");
    expect(told(runs).ok).toBe(false);
  });

  test("counts a project that broke without a failed test as one failure", () => {
    const runs = [projectRun({ passed: 5 }, { exitCode: 1 })];

    expect(lines(runs).at(-1)).toBe("5 passed, 1 failed");
    expect(told(runs).ok).toBe(false);
  });

  test("is loud about a project over its budget, but does not fail it", () => {
    const runs = [projectRun({ passed: 1 }, { name: "unit", seconds: 21, budgetSeconds: 20 })];

    expect(lines(runs)).toContain("!!! OVER BUDGET: unit took 21.0 s, its budget is 20 s !!!");
    expect(told(runs).ok).toBe(true);
  });

  test("fails a run that takes longer than everything together may", () => {
    const { ok, text } = told([projectRun({ passed: 1 })], 901);

    expect(ok).toBe(false);
    expect(text).toContain("TOO SLOW");
    expect(text).toMatch(/^1 passed, 1 failed$/m);
  });

  test("shows one line per project", () => {
    const runs = [
      projectRun({ passed: 1_204 }, { name: "unit", seconds: 3.21 }),
      projectRun({}, { name: "postgres", seconds: 0.5, budgetSeconds: 240 }),
    ];

    expect(lines(runs).slice(1, 5)).toEqual([
      "project   tests  seconds  budget  verdict",
      "────────  ─────  ───────  ──────  ───────",
      "unit       1204      3.2      20  ok",
      "postgres      0      0.5     240  empty",
    ]);
  });
});

function projectRun(
  tally: Partial<ProjectRun["tally"]>,
  run: Partial<Omit<ProjectRun, "tally">> = {},
): ProjectRun {
  return {
    name: "unit",
    budgetSeconds: 20,
    seconds: 1,
    exitCode: 0,
    ...run,
    tally: { ...NO_TESTS, ...tally },
  };
}

function told(runs: readonly ProjectRun[], seconds = 10): { text: string; ok: boolean } {
  const { text, ok } = summary(runs, { seconds, budgetSeconds: 900 });
  return { text: stripVTControlCharacters(text), ok };
}

function lines(runs: readonly ProjectRun[]): string[] {
  return told(runs).text.trimEnd().split("\n");
}
