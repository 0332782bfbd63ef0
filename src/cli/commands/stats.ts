/** `millrace stats`: counts jobs by state. */
import type { Command } from "commander";
import type { JobStats } from "../../api/client.ts";
import { formatDuration } from "../../core/duration.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { databaseOption, outputOption } from "../terminal/options.ts";
import { json, properties, type Format } from "../terminal/output.ts";
import { withExistingMill, type Shell } from "../shell.ts";

export function declareStats(program: Command, { terminal, end }: Shell): void {
  program
    .command("stats")
    .description("Count the jobs that wait, run and have failed. Counts stop at 10000.")
    .addOption(databaseOption())
    .addOption(outputOption())
    .action(async ({ db, output }: { db: string; output: Format }) => {
      const stats = await withExistingMill(db, (mill) => mill.jobs.stats());
      terminal.out(output === "json" ? json(stats) : sheetOf(stats));
      end(EXIT.success);
    });
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
