/** Actions on many jobs or dead letters: `--where` of `millrace jobs` and `millrace dlq`. */
import type { Command } from "commander";
import type { Operation, OperationRequest } from "../../../api/control/operations.ts";
import type { OperatorMill } from "../../operator-mill.ts";
import { given } from "../../shell.ts";
import { CommandFailure, EXIT, type ExitCode } from "../../terminal/exit-codes.ts";
import { json, type Format } from "../../terminal/output.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { confirmed, previewText } from "./confirm.ts";
import { endLine, exitCodeOf, watchOperation } from "./watch.ts";

export interface BulkOptions {
  readonly where?: true;
  readonly rate?: string;
  readonly chunk?: number;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly output: Format;
}

const BULK: readonly (keyof BulkOptions)[] = ["rate", "chunk", "yes", "dryRun"];

export function withBulkOptions(command: Command): Command {
  return command
    .option("--where", "instead of an id: all that match the options below")
    .option("--rate <rate>", "with --where: items per second, such as 500/s or 30/m")
    .option("--chunk <number>", "with --where: items per transaction, up to 500", Number)
    .option("--yes", "with --where: begin without a question")
    .option("--dry-run", "with --where: show what would be changed, and change nothing");
}

/** Either an id or `--where`: a filter by mistake would be costly. */
export function isBulk(
  id: string | undefined,
  options: BulkOptions,
  filters: readonly string[],
  command: Command,
): boolean {
  const isFlag = (name: string): boolean => command.getOptionValueSource(name) === "cli";
  if (options.where === true && id !== undefined) throw misused("Give either an id or --where.");
  if (options.where === true) return true;
  const stray = [...filters, ...BULK].find(isFlag);
  if (stray !== undefined) {
    const option = command.options.find((each) => each.attributeName() === stray);
    throw misused(`${option?.long} goes with --where.`);
  }
  if (id === undefined) throw misused("Give the id of a job, or --where with a filter.");
  return false;
}

function misused(message: string): CommandFailure {
  const hint = "For example: --where --type email --state queued";
  return new CommandFailure(message, { hint, exitCode: EXIT.usage });
}

/** Shows the preview, asks, starts the operation and follows it. */
export async function runBulk(
  mill: OperatorMill,
  request: OperationRequest,
  by: { readonly actor: string; readonly reason: string | undefined },
  options: BulkOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const isJson = options.output === "json";
  const preview = await mill.operations.preview(request);
  if (options.dryRun === true) {
    terminal.out(isJson ? json(preview) : previewText(preview));
    return EXIT.success;
  }
  terminal.err(previewText(preview));
  if (preview.count === 0) {
    if (isJson) terminal.out(json(preview));
    return EXIT.success;
  }
  const { actor, reason } = by;
  if (reason === undefined || reason === "") {
    throw new CommandFailure("An action on many items needs its reason, for the record.", {
      hint: 'Give it with --reason, or --notes for dead letters: --reason "wrong list"',
      exitCode: EXIT.usage,
    });
  }
  if (!(await confirmed(preview, terminal, options.yes === true))) {
    terminal.err("Nothing was changed.\n");
    return EXIT.cancelled;
  }
  const { rate, chunk } = options;
  const started = await mill.operations.start(request, {
    actor,
    reason,
    ...given({ rate, chunk }),
  });
  terminal.err(`Operation ${started.id} has begun.\n`);
  return report(await watchOperation(mill, started.id, actor, terminal), isJson, terminal);
}

/** Prints how an operation ended, or how to find it again. */
export function report(operation: Operation, isJson: boolean, terminal: Terminal): ExitCode {
  if (isJson) terminal.out(json(operation));
  if (operation.finishedAt === null) {
    terminal.err(
      `Operation ${operation.id} goes on while a worker or a server runs. ` +
        `Follow it with: millrace operations watch ${operation.id}\n`,
    );
  } else if (!isJson) terminal.out(`${endLine(operation)}\n`);
  return exitCodeOf(operation);
}
