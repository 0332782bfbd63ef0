/** What `npm test` says at the end. */
import { styleText } from "node:util";
import { table } from "./table.ts";
import type { BatchTally } from "./tally-reporter.ts";

/** What became of one project. */
export interface ProjectRun {
  readonly name: string;
  readonly budgetSeconds: number;
  readonly seconds: number;
  readonly passed: number;
  /** The names of what failed. */
  readonly failed: readonly string[];
  readonly skipped: readonly { readonly name: string; readonly reason: string | null }[];
}

export interface Whole {
  readonly seconds: number;
  readonly budgetSeconds: number;
}

/** What became of the projects of one Vitest process. */
export function runsOf(
  projects: readonly Pick<ProjectRun, "name" | "budgetSeconds">[],
  tally: BatchTally,
  exitCode: number,
): ProjectRun[] {
  const nothing = { passed: 0, failed: [], skipped: [], seconds: 0 };
  const runs = projects.map(({ name, budgetSeconds }) => ({
    name,
    budgetSeconds,
    ...(tally.projects[name] ?? nothing),
  }));
  const hasFailed = runs.some(({ failed }) => failed.length > 0);
  if (tally.errors.length === 0 && (exitCode === 0 || hasFailed)) return runs;

  // An error outside of all tests, too little coverage, or a Vitest that could not run.
  const names = projects.map(({ name }) => name).join(", ");
  const errors =
    tally.errors.length > 0
      ? tally.errors
      : [`Vitest ended with ${exitCode} and no test failed: a line marked ERROR above says why`];
  const failed = errors.map((error) => `${names}: ${error}`);
  return [...runs, { ...nothing, name: "(vitest)", budgetSeconds: 0, failed }];
}

/**
 * The table of projects, the names of failed tests, the reasons of skipped ones, the budgets that
 * were exceeded, and the closing line of totals. A budget never fails a run: how long tests take
 * depends on what else the machine does.
 */
export function summary(runs: readonly ProjectRun[], whole: Whole): { text: string; ok: boolean } {
  const rows = runs.map((run) => [
    run.name,
    String(run.passed + run.failed.length),
    run.seconds.toFixed(1),
    String(run.budgetSeconds),
    verdictOf(run),
  ]);
  const skipped = runs.flatMap((run) => run.skipped);
  const failed = runs.flatMap((run) => run.failed);
  const passed = runs.reduce((sum, run) => sum + run.passed, 0);
  const more = skipped.length > 0 ? `, ${skipped.length} skipped` : "";

  const lines = [
    "",
    ...table(["project", "tests", "seconds", "budget", "verdict"], rows),
    "",
    ...skipped.map(({ name, reason }) => `skipped: ${name} (${reason ?? "no reason given"})`),
    ...[...runs, { name: "all", ...whole }].filter(isOverBudget).map(overBudget),
    ...failed.map((name) => styleText("red", `failed: ${name}`)),
    `${passed} passed, ${failed.length} failed${more}`,
    "",
  ];
  return { text: lines.join("\n"), ok: failed.length === 0 };
}

function verdictOf(run: ProjectRun): string {
  if (run.failed.length > 0) return "FAILED";
  if (run.name !== "build" && run.passed === 0) return "empty";
  return isOverBudget(run) ? "over budget" : "ok";
}

function isOverBudget({ seconds, budgetSeconds }: Whole): boolean {
  return seconds > budgetSeconds;
}

function overBudget({ name, seconds, budgetSeconds }: Whole & { readonly name: string }): string {
  return styleText("yellow", `over budget: ${name} ${seconds.toFixed(0)} s of ${budgetSeconds} s`);
}
