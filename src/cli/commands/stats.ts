/** `millrace stats`: counts jobs by state, and by type, lane or tenant. */
import { Option, type Command } from "commander";
import type { GroupedJobStats, GroupName, JobStats } from "../../api/client.ts";
import { formatDuration } from "../../core/duration.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { databaseOption, serverOption, outputOption } from "../terminal/options.ts";
import { json, properties, table, type Format } from "../terminal/output.ts";
import { withExistingMill, type Shell } from "../shell.ts";
import type { Terminal } from "../terminal/terminal.ts";

interface StatsOptions {
  readonly db: string;
  readonly by?: GroupName;
  readonly output: Format;
}

const GROUP_NAMES: readonly GroupName[] = ["type", "lane", "tenant"];

export function declareStats(program: Command, { terminal, end }: Shell): void {
  program
    .command("stats")
    .description("Count the jobs that wait, run and have failed. Counts stop at 10000.")
    .addOption(new Option("--by <name>", "count the jobs of each name").choices(GROUP_NAMES))
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(async ({ db, by, output }: StatsOptions) => {
      await withExistingMill(db, async ({ jobs }) => {
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

Examples:
  millrace stats
  millrace stats --by tenant
`;

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
  const count = (name: "scheduled" | "queued" | "held" | "running" | "failed"): string =>
    shown(name, String(stats[name]));
  return properties([
    ["scheduled", count("scheduled")],
    ["queued", count("queued")],
    ["held", count("held")],
    ["running", count("running")],
    ["failed", count("failed")],
    ["oldest waits", oldest === null ? null : shown("oldestQueuedMs", formatDuration(oldest))],
  ]);
}
