/**
 * `millrace stats`: counts jobs by state, and by type, lane, tenant or category. With --last,
 * figures about the runs that have ended.
 */
import { Option, type Command } from "commander";
import { systemClock } from "../../lib/system.ts";
import type { GroupedJobStats, GroupName, JobStats } from "../../api/client.ts";
import type {
  DeployView,
  MetricsQuery,
  RunFigures,
  RunMetrics,
} from "../../api/metrics/metrics.ts";
import { formatDuration } from "../../core/duration.ts";
import { CommandFailure, EXIT } from "../terminal/exit-codes.ts";
import { databaseOption, durationOption, outputOption, serverOption } from "../terminal/options.ts";
import { json, properties, table, type Format } from "../terminal/output.ts";
import { withExistingMill, type Shell } from "../shell.ts";
import type { Terminal } from "../terminal/terminal.ts";

interface StatsOptions {
  readonly db: string;
  readonly by?: GroupName;
  readonly last?: number;
  readonly type?: string;
  readonly lane?: string;
  readonly output: Format;
}

const GROUP_NAMES: readonly GroupName[] = ["type", "lane", "tenant", "category"];

export function declareStats(program: Command, { terminal, end }: Shell): void {
  program
    .command("stats")
    .description("Count the jobs that wait, run and have failed. Counts stop at 10000.")
    .addOption(new Option("--by <name>", "count the jobs of each name").choices(GROUP_NAMES))
    .addOption(durationOption("--last <time>", "show waits and run times of runs that ended since"))
    .option("--type <name>", "with --last: of this type")
    .option("--lane <name>", "with --last: in this lane")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(async ({ db, by, output, ...runs }: StatsOptions) => {
      const query = runsQuery(by, runs);
      await withExistingMill(db, async ({ jobs, metrics }) => {
        if (query !== null) {
          const { from } = query;
          const deploys = await metrics.deploys(from === undefined ? {} : { from });
          return showRuns({ ...(await metrics.read(query)), deploys }, output, terminal);
        }
        if (by !== undefined) return showGroups(await jobs.statsBy(by), output, terminal);
        const stats = await jobs.stats();
        terminal.out(output === "json" ? json(stats) : sheetOf(stats));
      });
      end(EXIT.success);
    });
}

const HELP_AFTER = `
With --by, the 100 names with the most jobs are shown. Each count reads at most 100,000 jobs; a line
on stderr says when a count or the list was cut short.

With --last, the runs that ended in that time are shown by type and lane: how many per second, the
share of failed, timed-out and crashed ones, and how long they waited and ran. Runs of jobs that
were removed count as well. Times differ from the exact ones by at most 6.25 %. Below are the
versions of the application whose first worker came in that time.

Examples:
  millrace stats
  millrace stats --by tenant
  millrace stats --last 1h
  millrace stats --last 1d --type email -o json
`;

/** Null: jobs are counted, not runs. */
function runsQuery(
  by: GroupName | undefined,
  { last, type, lane }: Pick<StatsOptions, "last" | "type" | "lane">,
): MetricsQuery | null {
  if (last !== undefined && by === undefined) {
    const from = Math.max(0, systemClock.now() - last);
    const filter = type === undefined ? {} : { type };
    return { from, ...filter, ...(lane === undefined ? {} : { lane }) };
  }
  if (last === undefined && type === undefined && lane === undefined) return null;
  const problem =
    last === undefined ? "--type and --lane need --last." : "--by and --last exclude each other.";
  throw new CommandFailure(problem, {
    hint: "--last 1h shows runs, with --type and --lane; --by counts jobs.",
    exitCode: EXIT.usage,
  });
}

interface ShownRuns extends RunMetrics {
  readonly deploys: readonly DeployView[];
}

function showRuns(metrics: ShownRuns, output: Format, terminal: Terminal): void {
  if (output === "json") return terminal.out(json(metrics));
  showFigures(metrics, terminal);
  const rows = metrics.deploys.map(({ appVersion, at }) => [at.toISOString(), appVersion]);
  if (rows.length > 0) terminal.out(`\n${table(["DEPLOYED", "VERSION"], rows)}`);
}

function showFigures({ groups, total, cutShort }: RunMetrics, terminal: Terminal): void {
  if (groups.length === 0) return terminal.err("No run has ended in this time.\n");
  const rows = groups.map((group) => [group.type, group.lane, ...runCells(group)]);
  if (groups.length > 1) rows.push(["total", "", ...runCells(total)]);
  terminal.out(table(["TYPE", "LANE", "RUNS", "PER SECOND", "ERRORS", ...TIMES], rows));
  if (cutShort) terminal.err("There are more rows than one read takes: give a shorter time.\n");
}

const TIMES = ["WAIT P50", "P95", "P99", "RUN P50", "P95", "P99"];

function runCells({ runs, perSecond, errorRate, wait, run }: RunFigures): string[] {
  const times = [wait.p50, wait.p95, wait.p99, run.p50, run.p95, run.p99];
  return [
    String(runs),
    perSecond.toFixed(perSecond < 10 ? 2 : 0),
    errorRate === null ? "-" : `${(100 * errorRate).toFixed(1)} %`,
    ...times.map((ms) => (ms === null ? "-" : formatDuration(ms))),
  ];
}

function showGroups(stats: GroupedJobStats, output: Format, terminal: Terminal): void {
  if (output === "json") return terminal.out(json(stats));
  const { by, groups, atLeast, cutShort } = stats;
  if (groups.length === 0) return terminal.err("No jobs wait, run or have failed.\n");
  const rows = groups.map(({ name, scheduled, queued, held, running, failed }) => [
    name,
    ...[scheduled, queued, held, running, failed].map(String),
  ]);
  const counts = ["SCHEDULED", "QUEUED", "HELD", "RUNNING", "FAILED"];
  terminal.out(table([by.toUpperCase(), ...counts], rows));
  if (atLeast.length > 0) {
    terminal.err(
      `Not all jobs were counted; the true counts may be larger: ${atLeast.join(", ")}\n`,
    );
  }
  if (cutShort) terminal.err(`There are more: the ${groups.length} largest are shown.\n`);
}

function sheetOf(stats: JobStats): string {
  const { oldestQueuedMs: oldest } = stats;
  const shown = (name: keyof JobStats, text: string): string =>
    stats.atLeast.some((each) => each === name) ? `at least ${text}` : text;
  const count = (name: Exclude<keyof JobStats, "oldestQueuedMs" | "atLeast">): string =>
    shown(name, String(stats[name]));
  return properties([
    ["scheduled", count("scheduled")],
    ["retrying", count("retrying")],
    ["queued", count("queued")],
    ["held", count("held")],
    ["running", count("running")],
    ["failed", count("failed")],
    ["oldest waits", oldest === null ? null : shown("oldestQueuedMs", formatDuration(oldest))],
  ]);
}
