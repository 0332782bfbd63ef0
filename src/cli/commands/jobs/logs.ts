/** `millrace jobs logs`: prints the log lines of a job to stdout. */
import type { Command } from "commander";
import type { LogView } from "../../../api/logs.ts";
import type { OperatorMill } from "../../operator-mill.ts";
import { plainLines } from "../../../lib/plain-text.ts";
import { EXIT, CommandFailure, type ExitCode } from "../../terminal/exit-codes.ts";
import { detached, exitCodeOfJob, pollUntilEnd } from "../../follow/follow.ts";
import { LogReader, shownLog, shownMissed } from "../../follow/log-lines.ts";
import { databaseOption, serverOption, outputOption } from "../../terminal/options.ts";
import { json, jsonLine, type Format } from "../../terminal/output.ts";
import { withJob, type Shell } from "../../shell.ts";
import type { Terminal } from "../../terminal/terminal.ts";

interface LogsOptions {
  readonly db: string;
  readonly follow?: boolean;
  readonly output: Format;
}

/** `again` returns the command that continues to follow the log. */
export function declareLogs(
  jobs: Command,
  { terminal, end }: Shell,
  again: (words: string, command: Command) => string,
): void {
  jobs
    .command("logs <id>")
    .description("Print the lines that a job has logged with ctx.log.")
    .option("--follow", "continue until the job has ended, and exit with its code")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption("ndjson"))
    .addHelpText("after", HELP_AFTER)
    .action(async (text: string, options: LogsOptions, command: Command) => {
      const print = (mill: OperatorMill, id: string): Promise<ExitCode> => {
        if (options.follow !== true) return printLog(mill, id, options, terminal);
        const followAgain = again(`logs ${id} --follow`, command);
        return followLog(mill, id, { ...options, again: followAgain }, terminal);
      };
      end(await withJob(options.db, text, print));
    });
}

const HELP_AFTER = `
The store keeps the newest 1,000 lines of each job, and no more than 65,536 characters.

Exit codes with --follow: 0 completed, 1 failed or removed, 3 completed with errors, 4 cancelled,
130 detached by Ctrl-C (the job continues).
`;

/** Log lines as text. The later lines of a message are indented. */
export function shownLines(lines: readonly LogView[]): string {
  return lines
    .map(
      (line) => `${line.at.toISOString()} ${plainLines(shownLog(line)).replaceAll("\n", "\n  ")}\n`,
    )
    .join("");
}

async function printLog(
  mill: OperatorMill,
  id: string,
  { output }: LogsOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { missed, lines } = await new LogReader(mill.jobs, id).next();
  if (missed > 0) terminal.err(`${shownMissed(missed)}.\n`);
  if (output === "json") terminal.out(json({ lines }));
  else printLines(lines, output, terminal);
  return EXIT.success;
}

async function followLog(
  mill: OperatorMill,
  id: string,
  { output, again }: LogsOptions & { readonly again: string },
  terminal: Terminal,
): Promise<ExitCode> {
  if (output === "json") {
    throw new CommandFailure("With --follow, a log cannot be one JSON document.", {
      hint: "Use -o ndjson, which prints one document per line.",
      exitCode: EXIT.usage,
    });
  }
  const reader = new LogReader(mill.jobs, id);
  const job = await pollUntilEnd(mill, id, undefined, async () => {
    const { missed, lines } = await reader.next();
    if (missed > 0) terminal.err(`${shownMissed(missed)}.\n`);
    printLines(lines, output, terminal);
    return mill.jobs.get(id);
  });
  return job === "detached" ? detached(again, terminal) : exitCodeOfJob(job);
}

function printLines(lines: readonly LogView[], output: Format, terminal: Terminal): void {
  if (lines.length === 0) return;
  terminal.out(output === "ndjson" ? lines.map(jsonLine).join("") : shownLines(lines));
}
