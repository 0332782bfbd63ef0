/** `millrace jobs follow`: waits for the end of a job. */
import type { Command } from "commander";
import { follow } from "../../follow/follow.ts";
import {
  databaseOption,
  serverOption,
  durationOption,
  outputOption,
} from "../../terminal/options.ts";
import type { Format } from "../../terminal/output.ts";
import { withJob, type Shell } from "../../shell.ts";
import { followCommands } from "./again.ts";

interface JobFollowOptions {
  readonly db: string;
  readonly output: Format;
  readonly timeout?: number;
}

export function declareFollow(jobs: Command, { terminal, end }: Shell): void {
  jobs
    .command("follow <id>")
    .description("Wait for the end of a job: changes to stderr, the result to stdout.")
    .addOption(durationOption("--timeout <time>", "how long to wait"))
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption("ndjson"))
    .addHelpText("after", FOLLOW_HELP_AFTER)
    .action(async (text: string, options: JobFollowOptions, command: Command) => {
      const { output: format, timeout: timeoutMs } = options;
      end(
        await withJob(options.db, text, (mill, id) => {
          const commands = followCommands(id, command);
          return follow(mill, id, { format, timeoutMs, ...commands }, terminal);
        }),
      );
    });
}

/** The help of `jobs follow` and of `enqueue --follow`. */
export const FOLLOW_HELP_AFTER = `
A terminal shows phases, units, rate, remaining time and the last log line, and updates them.
Without a terminal, every change is printed as a line. With -o json the result is the whole job;
with -o ndjson every change is a line on stdout. NO_COLOR=1 disables colours. Times are those of the
changes. If the job is due and does not run, the reason is printed.

Exit codes: 0 completed, 1 failed or removed, 3 completed with errors, 4 cancelled,
124 not final after --timeout, 130 detached by Ctrl-C (the job continues).
`;
