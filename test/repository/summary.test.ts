import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { runsOf, summary } from "../../scripts/lib/summary.ts";
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

  test("fails when a test failed, and names it right before the totals", () => {
    const failed = ["a.test.ts > adds", "b.test.ts"];
    const runs = [projectRun({ passed: 1, failed, seconds: 21 })];

    expect(lines(runs).slice(-3)).toEqual([
      "failed: a.test.ts > adds",
      "failed: b.test.ts",
      "1 passed, 2 failed",
    ]);
    expect(told(runs).ok).toBe(false);
  });

  test("names a project over its budget, and does not fail it", () => {
    const runs = [projectRun({ passed: 1, seconds: 21, budgetSeconds: 20 })];

    expect(lines(runs)).toContain("over budget: unit 21 s of 20 s");
    expect(lines(runs).at(-1)).toBe("1 passed, 0 failed");
    expect(told(runs).ok).toBe(true);
  });

  test("names a whole run over its budget, and does not fail it", () => {
    const { ok, text } = told([projectRun({ passed: 1 })], 901);

    expect(ok).toBe(true);
    expect(text).toMatch(/^over budget: all 901 s of 900 s$/m);
    expect(text).toMatch(/^1 passed, 0 failed$/m);
  });

  test("shows one line per project", () => {
    const runs = [
      projectRun({ passed: 1_204, name: "unit", seconds: 3.21 }),
      projectRun({ name: "postgres", seconds: 0.5, budgetSeconds: 240 }),
    ];

    expect(lines(runs).slice(1, 5)).toEqual([
      "project   tests  seconds  budget  verdict",
      "────────  ─────  ───────  ──────  ───────",
      "unit       1204      3.2      20  ok",
      "postgres      0      0.5     240  empty",
    ]);
  });
});

describe("the runs of one Vitest process", () => {
  const projects = [
    { name: "unit", budgetSeconds: 20 },
    { name: "cli", budgetSeconds: 30 },
  ];
  const tally = { passed: 3, failed: [], skipped: [], seconds: 2 };

  test("are one for each project, also for one without tests", () => {
    const runs = runsOf(projects, { projects: { cli: tally }, errors: [] }, 0);

    expect(runs.map(({ name, passed }) => [name, passed])).toEqual([
      ["unit", 0],
      ["cli", 3],
    ]);
    expect(told(runs).ok).toBe(true);
  });

  test("fail with an error that belongs to no test", () => {
    const runs = runsOf(projects, { projects: { cli: tally }, errors: ["it broke"] }, 1);

    expect(lines(runs)).toContain("failed: unit, cli: it broke");
    expect(lines(runs).at(-1)).toBe("3 passed, 1 failed");
  });

  test("fail when Vitest ends badly without a failed test, such as for its coverage", () => {
    const runs = runsOf(projects, { projects: { cli: tally }, errors: [] }, 1);

    expect(lines(runs)).toContain(
      "failed: unit, cli: Vitest ended with 1 and no test failed: " +
        "a line marked ERROR above says why",
    );
    expect(told(runs).ok).toBe(false);
  });

  test("count a failed test once", () => {
    const failed = { ...tally, failed: ["a.test.ts > adds"] };
    const runs = runsOf(projects, { projects: { cli: failed }, errors: [] }, 1);

    expect(lines(runs).at(-1)).toBe("3 passed, 1 failed");
  });
});

function projectRun(run: Partial<ProjectRun>): ProjectRun {
  const empty = { passed: 0, failed: [], skipped: [] };
  return { name: "unit", budgetSeconds: 20, seconds: 1, ...empty, ...run };
}

function told(runs: readonly ProjectRun[], seconds = 10): { text: string; ok: boolean } {
  const { text, ok } = summary(runs, { seconds, budgetSeconds: 900 });
  return { text: stripVTControlCharacters(text), ok };
}

function lines(runs: readonly ProjectRun[]): string[] {
  return told(runs).text.trimEnd().split("\n");
}
