/** `millrace stats`: counts jobs by state. */
import type { Command } from "commander";
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
      const { oldestQueuedMs } = stats;
      const sheet = properties([
        ["scheduled", String(stats.scheduled)],
        ["queued", String(stats.queued)],
        ["held", String(stats.held)],
        ["running", String(stats.running)],
        ["failed", String(stats.failed)],
        ["oldest waits", oldestQueuedMs === null ? null : formatDuration(oldestQueuedMs)],
      ]);
      terminal.out(output === "json" ? json(stats) : sheet);
      end(EXIT.success);
    });
}
