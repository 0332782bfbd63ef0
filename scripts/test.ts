/**
 * Runs the tests, project by project, and closes with a table and one line of totals.
 *
 *     npm test                        everything
 *     npm test -- --project=cli       one project; may be repeated
 *     npm test -- -t "never twice"    whatever else Vitest understands
 *     npm run test:quick              what fits into half a minute
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./build.ts";
import { bin, root, runLoudly } from "./lib/command.ts";
import { BUDGET_SECONDS_TOTAL, PROJECTS } from "./lib/projects.ts";
import type { TestProject } from "./lib/projects.ts";
import { NO_TESTS, summary } from "./lib/summary.ts";
import type { ProjectRun } from "./lib/summary.ts";
import type { Tally } from "./lib/tally-reporter.ts";

/** What takes too long for every day is named, so that nobody takes it for done. */
const LEFT_OUT =
  "These were short forms. The campaigns themselves: npm run simulate, npm run chaos, and node\n" +
  "scripts/show/{crash-points,power-loss,differential,interleavings}.ts; see RELIABILITY.md.\n";

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const isQuick = args.includes("--quick");
  const names = args.filter((arg) => arg.startsWith("--project=")).map((arg) => arg.slice(10));
  const selection = args.filter((arg) => arg !== "--quick" && !arg.startsWith("--project="));
  const unknown = names.find((name) => PROJECTS.every((project) => project.name !== name));
  if (unknown !== undefined) return refuse(unknown);

  const isFull = !isQuick && selection.length === 0;
  const started = performance.now();
  const runs: ProjectRun[] = isQuick ? [] : [await buildFirst()];
  if (runs.every((run) => run.exitCode === 0)) {
    for (const project of PROJECTS.filter((each) => isWanted(each, names, isQuick))) {
      // A part of the tests cannot cover the whole core, so only a full run is measured.
      const isMeasured = isFull && project.name === "unit";
      runs.push(await runProject(project, isMeasured ? ["--coverage"] : selection));
    }
  }
  const whole = { seconds: secondsSince(started), budgetSeconds: BUDGET_SECONDS_TOTAL };
  const { text, ok } = summary(selection.length > 0 ? runs.map(withoutUnselected) : runs, whole);
  process.stdout.write(text);
  if (isFull && names.length === 0) process.stdout.write(LEFT_OUT);
  return ok ? 0 : 1;
}

function refuse(unknown: string): number {
  const known = PROJECTS.map((project) => project.name).join(", ");
  process.stderr.write(`There is no test project “${unknown}”; there are: ${known}.\n`);
  return 2;
}

function isWanted(project: TestProject, names: readonly string[], isQuick: boolean): boolean {
  if (names.length > 0) return names.includes(project.name);
  return isQuick ? project.quick : true;
}

/** Tests of the command line and of the package run what is shipped, so it must be fresh. */
async function buildFirst(): Promise<ProjectRun> {
  const began = performance.now();
  const { ok, complaints } = await build();
  process.stdout.write(complaints);
  return {
    name: "build",
    budgetSeconds: 30,
    seconds: secondsSince(began),
    exitCode: ok ? 0 : 1,
    tally: NO_TESTS,
  };
}

async function runProject(project: TestProject, args: readonly string[]): Promise<ProjectRun> {
  const { name, budgetSeconds } = project;
  const folder = mkdtempSync(join(tmpdir(), "millrace-tally-"));
  const tallyFile = join(folder, "tally.json");
  const reporter = join(root, "scripts", "lib", "tally-reporter.ts");
  const began = performance.now();
  try {
    process.env["MILLRACE_TALLY"] = tallyFile;
    const reporters = ["--reporter=default", `--reporter=${reporter}`];
    const vitestArgs = ["run", `--project=${name}`, ...reporters, ...args];
    const exitCode = await runLoudly(bin("vitest"), vitestArgs);
    const tally = readTally(tallyFile);
    return { name, budgetSeconds, seconds: secondsSince(began), exitCode, tally };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readTally(file: string): Tally {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // Vitest found nothing to run, or broke before it could; its exit code tells which.
    return NO_TESTS;
  }
}

/** Vitest calls a test skipped that the caller did not select; that is not worth a line each. */
function withoutUnselected(run: ProjectRun): ProjectRun {
  const skipped = run.tally.skipped.filter(({ reason }) => reason !== null);
  return { ...run, tally: { ...run.tally, skipped } };
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1000;
}
