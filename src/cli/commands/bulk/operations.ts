/** `millrace operations`: shows bulk operations, follows and stops them. */
import { Option, type Command } from "commander";
import type { Operation, OperationItemView } from "../../../api/control/operations.ts";
import { systemClock } from "../../../lib/system.ts";
import { given, systemUser, withExistingMill, type Shell } from "../../shell.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import {
  actorOption,
  databaseOption,
  limitOption,
  outputOption,
  serverOption,
} from "../../terminal/options.ts";
import { ageOf, json, properties, table, timeOf, type Format } from "../../terminal/output.ts";
import { report } from "./run.ts";
import { endLine, watchOperation } from "./watch.ts";

interface ReadOptions {
  readonly db: string;
  readonly output: Format;
}

const HELP_AFTER = `
An operation is one action on many jobs or dead letters. The commands that begin one have the
option --where: millrace jobs cancel, retry, delete, priority, reschedule, and millrace dlq
reprocess, discard, acknowledge.

Examples:
  millrace operations list --status running
  millrace operations items 01JCR5M4X2E8T9V6B3N7K0QWAZ --outcome failed
  millrace operations stop 01JCR5M4X2E8T9V6B3N7K0QWAZ
`;

export function declareOperations(program: Command, shell: Shell): void {
  const operations = program
    .command("operations")
    .description("Show actions on many jobs or dead letters, follow and stop them.")
    .addHelpText("after", HELP_AFTER);
  declareList(operations, shell);
  declareShow(operations, shell);
  declareItems(operations, shell);
  declareWatch(operations, shell);
  declareStop(operations, shell);
}

function declareList(operations: Command, { terminal, end }: Shell): void {
  reading(operations.command("list"))
    .description("Show operations, newest first.")
    .addOption(
      new Option("--status <status>", "with this status").choices([
        "pending",
        "running",
        "completed",
        "stopped",
        "failed",
      ]),
    )
    .addOption(limitOption())
    .option("--after <id>", "continue after this operation")
    .action(
      async (
        options: ReadOptions & { status?: Operation["status"]; limit: number; after?: string },
      ) => {
        const { db, output, status, limit, after } = options;
        const found = await withExistingMill(db, (mill) =>
          mill.operations.list(given({ status, limit, after })),
        );
        if (output === "json") terminal.out(json(found));
        else if (found.length > 0) terminal.out(tableOf(found));
        else terminal.err("No operations.\n");
        const last = found.length === limit ? found.at(-1) : undefined;
        if (last !== undefined) terminal.err(`There may be more: add --after ${last.id}\n`);
        end(EXIT.success);
      },
    );
}

function tableOf(operations: readonly Operation[]): string {
  const now = systemClock.now();
  return table(
    ["ID", "ACTION", "STATUS", "DONE", "SKIPPED", "FAILED", "BY", "AGE", "REASON"],
    operations.map((each) => [
      each.id,
      each.action,
      each.status,
      String(each.done),
      String(skippedOf(each)),
      String(each.failed),
      each.actor,
      ageOf(each.createdAt, now),
      each.reason,
    ]),
  );
}

function skippedOf({ skipped }: Operation): number {
  return Object.values(skipped).reduce((sum, count) => sum + count, 0);
}

function declareShow(operations: Command, { terminal, end }: Shell): void {
  reading(operations.command("show <id>"))
    .description("Show one operation.")
    .action(async (id: string, { db, output }: ReadOptions) => {
      const operation = await withExistingMill(db, (mill) => mill.operations.get(id));
      terminal.out(output === "json" ? json(operation) : shown(operation));
      end(EXIT.success);
    });
}

function shown(operation: Operation): string {
  const { expected, expectedAtLeast, skipped, filter, error } = operation;
  const reasons = Object.entries(skipped).map(([reason, count]) => `${count} ${reason}`);
  return properties([
    ["id", operation.id],
    ["action", operation.action],
    ["status", operation.status],
    ["filter", filter === null ? `${operation.ids} ids` : JSON.stringify(filter)],
    ["tenant", operation.tenant],
    ["by", operation.actor],
    ["reason", operation.reason],
    ["expected", `${expected}${expectedAtLeast ? " or more" : ""}`],
    ["done", String(operation.done)],
    ["skipped", reasons.length === 0 ? "0" : reasons.join(", ")],
    ["failed", String(operation.failed)],
    ["rate", `${operation.rate}/s`],
    ["created", timeOf(operation.createdAt)],
    ["started", timeOf(operation.startedAt)],
    ["finished", timeOf(operation.finishedAt)],
    ["stopped by", operation.stoppedBy],
    ["error", error === null ? null : `${error.name}: ${error.message}`],
  ]);
}

function declareItems(operations: Command, { terminal, end }: Shell): void {
  reading(operations.command("items <id>"))
    .description("Show what became of each job or dead letter of an operation.")
    .addOption(
      new Option("--outcome <outcome>", "with this outcome").choices(["done", "skipped", "failed"]),
    )
    .addOption(limitOption())
    .option("--after <number>", "continue after the item with this number", Number)
    .action(
      async (
        id: string,
        options: ReadOptions & {
          outcome?: OperationItemView["outcome"];
          limit: number;
          after?: number;
        },
      ) => {
        const { db, output, outcome, limit, after } = options;
        const page = await withExistingMill(db, (mill) =>
          mill.operations.items(id, given({ outcome, limit, after })),
        );
        if (output === "json") terminal.out(json(page));
        else if (page.items.length > 0) terminal.out(itemTable(page.items));
        else terminal.err("No items.\n");
        if (page.next !== null) terminal.err(`There may be more: add --after ${page.next}\n`);
        end(EXIT.success);
      },
    );
}

function itemTable(items: readonly OperationItemView[]): string {
  return table(
    ["N", "JOB", "OUTCOME", "CODE", "SUCCESSOR"],
    items.map(({ n, jobId, outcome, code, successorId }) => [
      String(n),
      jobId,
      outcome,
      code ?? "",
      successorId ?? "",
    ]),
  );
}

function declareWatch(operations: Command, { terminal, end }: Shell): void {
  acting(operations.command("watch <id>"))
    .description("Follow an operation to its end; Ctrl-C asks whether to stop it.")
    .action(async (id: string, options: ReadOptions & { by: string }) => {
      const isJson = options.output === "json";
      end(
        await withExistingMill(options.db, async (mill) =>
          report(await watchOperation(mill, id, options.by, terminal), isJson, terminal),
        ),
      );
    });
}

function declareStop(operations: Command, { terminal, end }: Shell): void {
  acting(operations.command("stop <id>"))
    .description("Stop an operation before its next chunk. What it has changed stays.")
    .action(async (id: string, { db, by: actor, output }: ReadOptions & { by: string }) => {
      const stopped = await withExistingMill(db, (mill) => mill.operations.stop(id, { actor }));
      terminal.out(output === "json" ? json(stopped) : `${endLine(stopped)}\n`);
      end(EXIT.success);
    });
}

function reading(command: Command): Command {
  return command.addOption(databaseOption()).addOption(serverOption()).addOption(outputOption());
}

function acting(command: Command): Command {
  return reading(command).addOption(actorOption("the person, for the record", systemUser()));
}
