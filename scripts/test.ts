/**
 * Runs the tests, batch by batch, and closes with a table and one line of totals.
 *
 *     npm test                        everything that a change needs to be safe
 *     npm test -- --project=cli       one project; may be repeated
 *     npm test -- -t "never twice"    any other option of Vitest
 *     npm run test:quick              what fits into half a minute
 *
 * What takes too long for every change is in `npm run campaign`.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./build.ts";
import { bin, root, runLoudly } from "./lib/command.ts";
import { BATCHES, BUDGET_SECONDS_TOTAL, PROJECTS } from "./lib/projects.ts";
import type { TestProject } from "./lib/projects.ts";
import { runsOf, summary } from "./lib/summary.ts";
import type { ProjectRun } from "./lib/summary.ts";
import type { BatchTally } from "./lib/tally-reporter.ts";

const LEFT_OUT = "Samples of the campaigns are part of this run; npm run campaign runs the rest.\n";

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
  if (runs.every(({ failed }) => failed.length === 0)) {
    const wanted = PROJECTS.filter((project) => isWanted(project, names, isQuick));
    for (const { name, workers } of BATCHES) {
      const projects = wanted.filter(({ batch }) => batch === name);
      if (projects.length === 0) continue;
      // A part of the tests cannot cover the whole core, so only a full run is measured.
      const isMeasured = isFull && name === "unit";
      const more = isMeasured ? ["--coverage"] : selection;
      runs.push(...(await runBatch(projects, [`--maxWorkers=${workers}`, ...more])));
    }
  }
  const whole = { seconds: secondsSince(started), budgetSeconds: BUDGET_SECONDS_TOTAL };
  const { text, ok } = summary(selection.length > 0 ? runs.map(withoutUnselected) : runs, whole);
  if (isFull && names.length === 0) process.stdout.write(`\n${LEFT_OUT}`);
  process.stdout.write(text);
  return ok ? 0 : 1;
}

function refuse(unknown: string): number {
  const known = PROJECTS.map((project) => project.name).join(", ");
  process.stderr.write(`There is no test project “${unknown}”; there are: ${known}.\n`);
  return 2;
}

function isWanted(project: TestProject, names: readonly string[], isQuick: boolean): boolean {
  if (names.length > 0) return names.includes(project.name);
  return project.level !== "campaign" && (project.quick === true || !isQuick);
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
    passed: 0,
    failed: ok ? [] : ["the build"],
    skipped: [],
  };
}

/** One Vitest process for several projects: each process of its own would start for seconds. */
async function runBatch(
  projects: readonly TestProject[],
  args: readonly string[],
): Promise<ProjectRun[]> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-tally-"));
  const tallyFile = join(folder, "tally.json");
  const reporter = join(root, "scripts", "lib", "tally-reporter.ts");
  try {
    process.env["MILLRACE_TALLY"] = tallyFile;
    const reporters = ["--reporter=default", `--reporter=${reporter}`];
    const selected = projects.map(({ name }) => `--project=${name}`);
    const exitCode = await runLoudly(bin("vitest"), ["run", ...selected, ...reporters, ...args]);
    return runsOf(projects, readTally(tallyFile), exitCode);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readTally(file: string): BatchTally {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // Vitest found nothing to run, or broke before it could; its exit code tells which.
    return { projects: {}, errors: [] };
  }
}

/** Vitest calls a test skipped that the caller did not select; that is not worth a line each. */
function withoutUnselected(run: ProjectRun): ProjectRun {
  return { ...run, skipped: run.skipped.filter(({ reason }) => reason !== null) };
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1000;
}
