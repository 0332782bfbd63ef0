/** What `npm test` says at the end. */
import { styleText } from "node:util";
import { table } from "./table.ts";
import type { Tally } from "./tally-reporter.ts";

export interface ProjectRun {
  readonly name: string;
  readonly budgetSeconds: number;
  readonly seconds: number;
  readonly exitCode: number;
  readonly tally: Tally;
}

export interface Whole {
  readonly seconds: number;
  readonly budgetSeconds: number;
}

/** The tally of a run that reached no test. */
export const NO_TESTS: Tally = { passed: 0, failed: [], skipped: [] };

/**
 * The table of projects, the names of failed tests, the reasons of skipped ones, and the closing
 * line of totals.
 */
export function summary(runs: readonly ProjectRun[], whole: Whole): { text: string; ok: boolean } {
  const rows = runs.map((run) => [
    run.name,
    String(run.tally.passed + failuresOf(run)),
    run.seconds.toFixed(1),
    String(run.budgetSeconds),
    verdictOf(run),
  ]);
  const skipped = runs.flatMap((run) => run.tally.skipped);
  const isLate = whole.seconds > whole.budgetSeconds;
  const passed = sum(runs.map((run) => run.tally.passed));
  const failed = sum(runs.map(failuresOf)) + (isLate ? 1 : 0);

  const lines = [
    "",
    ...table(["project", "tests", "seconds", "budget", "verdict"], rows),
    "",
    ...runs.flatMap((run) => run.tally.failed).map((name) => `failed: ${name}`),
    ...skipped.map(({ name, reason }) => `skipped: ${name} (${reason ?? "no reason given"})`),
    ...runs.filter(isOverBudget).map(budgetComplaint),
    ...(isLate ? [lateComplaint(whole)] : []),
    `${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`,
    "",
  ];
  return { text: lines.join("\n"), ok: failed === 0 };
}

/** A project that ended badly without a failed test (coverage, a stray error) failed as a whole. */
function failuresOf(run: ProjectRun): number {
  const { length } = run.tally.failed;
  return run.exitCode === 0 ? length : Math.max(1, length);
}

function verdictOf(run: ProjectRun): string {
  if (failuresOf(run) > 0) return "FAILED";
  if (isOverBudget(run)) return "OVER BUDGET";
  if (run.name !== "build" && run.tally.passed === 0) return "empty";
  return "ok";
}

function isOverBudget(run: ProjectRun): boolean {
  return run.seconds > run.budgetSeconds;
}

function budgetComplaint(run: ProjectRun): string {
  const text = `${run.name} took ${run.seconds.toFixed(1)} s, its budget is ${run.budgetSeconds} s`;
  return styleText(["yellow", "bold"], `!!! OVER BUDGET: ${text} !!!`);
}

function lateComplaint(whole: Whole): string {
  const text = `the run took ${whole.seconds.toFixed(0)} s of ${whole.budgetSeconds} s allowed`;
  return styleText(["red", "bold"], `!!! TOO SLOW: ${text}, which counts as a failure !!!`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
