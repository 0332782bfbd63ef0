/** `millrace failures`: dead letters by cause. */
import { Option, type Command } from "commander";
import type { FailureGroup } from "../../../api/control/failures.ts";
import { durationMs, type Duration } from "../../../core/duration.ts";
import { systemClock } from "../../../lib/system.ts";
import { given, systemUser, withExistingMill, type Shell } from "../../shell.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import {
  actorOption,
  databaseOption,
  limitOption,
  mostOption,
  outputOption,
  serverOption,
} from "../../terminal/options.ts";
import {
  ageOf,
  errorOf,
  json,
  properties,
  table,
  timeOf,
  type Format,
} from "../../terminal/output.ts";

interface ReadOptions {
  readonly db: string;
  readonly tenant?: string;
  readonly limit: number;
  readonly after?: string;
  readonly output: Format;
}

interface LimitedOptions extends ChangeOptions {
  readonly limit?: number;
}

interface ChangeOptions {
  readonly db: string;
  readonly by: string;
  readonly notes?: string;
  readonly tenant?: string;
  readonly output: Format;
}

/** The groups of one page. */
const PAGE_MAX = 100;
/** The dead letters of one call, also over HTTP. */
const LETTERS_MAX = 10_000;

const HELP_AFTER = `
Failures with the same error, in the same function, have one cause, whatever ids, numbers, times and
paths their messages contain. A group has the open dead letters of one cause.

Examples:
  millrace failures list
  millrace failures snooze 0f3a9c1d5e7b2468 --for 2h --notes "the bank is down"
  millrace failures retry 0f3a9c1d5e7b2468 --notes "fixed in 2.4.1"
`;

export function declareFailures(program: Command, shell: Shell): void {
  const failures = program
    .command("failures")
    .description("Show failures by cause, and deal with all dead letters of a cause.")
    .addHelpText("after", HELP_AFTER);
  declareList(failures, shell);
  declareShow(failures, shell);
  declareAcknowledge(failures, shell);
  declareSnooze(failures, shell);
  declareRetry(failures, shell);
  declareDiscard(failures, shell);
}

function declareList(failures: Command, { terminal, end }: Shell): void {
  failures
    .command("list")
    .description("Show the causes of open dead letters, the newest failure first.")
    .option("--tenant <name>", "of this tenant")
    .addOption(limitOption())
    .option("--after <cause>", "continue after this cause")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async ({ db, tenant, limit, after, output }: ReadOptions) => {
      const found = await withExistingMill(db, (mill) =>
        mill.failures.list(given({ tenant, limit, after })),
      );
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(tableOf(found));
      else terminal.err("No open dead letters.\n");
      const last = found.length === Math.min(limit, PAGE_MAX) ? found.at(-1) : undefined;
      if (last !== undefined && output !== "json")
        terminal.err(`There may be more: add --after ${last.cause}\n`);
      end(EXIT.success);
    });
}

function tableOf(groups: readonly FailureGroup[]): string {
  const now = systemClock.now();
  return table(
    ["CAUSE", "STATUS", "COUNT", "LAST", "FIRST", "TYPES", "ERROR"],
    groups.map((group) => [
      group.cause,
      group.status,
      countOf(group),
      ageOf(group.lastSeenAt, now),
      ageOf(group.firstSeenAt, now),
      group.types.join(", "),
      errorOf(group.sample.error),
    ]),
  );
}

function countOf({ count, atLeast }: FailureGroup): string {
  return atLeast ? `at least ${count}` : String(count);
}

function declareShow(failures: Command, { terminal, end }: Shell): void {
  failures
    .command("show <cause>")
    .description("Show the failures of one cause.")
    .option("--tenant <name>", "of this tenant")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async (cause: string, { db, tenant, output }: ReadOptions) => {
      const group = await withExistingMill(db, (mill) =>
        mill.failures.get(cause, given({ tenant })),
      );
      terminal.out(output === "json" ? json(group) : shownGroup(group));
      end(EXIT.success);
    });
}

function shownGroup(group: FailureGroup): string {
  return properties([
    ["cause", group.cause],
    ["status", group.status],
    ["dead letters", countOf(group)],
    ["types", group.types.join(", ")],
    ["first seen", timeOf(group.firstSeenAt)],
    ["last seen", timeOf(group.lastSeenAt)],
    ["last 24 hours", group.trend.join(" ")],
    ["decided by", group.decidedBy],
    ["decided", timeOf(group.decidedAt)],
    ["until", timeOf(group.until)],
    ["notes", group.notes],
    ["newest job", group.sample.jobId],
    ["error", `${group.sample.error.name}: ${group.sample.error.message}`],
    ["error class", group.sample.error.class],
  ]);
}

function declareAcknowledge(failures: Command, { terminal, end }: Shell): void {
  changing(failures.command("acknowledge <cause>"))
    .description("Mark the failures of a cause as known until one comes again.")
    .action(async (cause: string, options: ChangeOptions) => {
      await withExistingMill(options.db, (mill) => mill.failures.acknowledge(cause, byOf(options)));
      const facts = { cause, status: "acknowledged" };
      terminal.out(options.output === "json" ? json(facts) : `${cause} is acknowledged.\n`);
      end(EXIT.success);
    });
}

function declareSnooze(failures: Command, { terminal, end }: Shell): void {
  changing(failures.command("snooze <cause>"))
    .description("Hide the failures of a cause for a while.")
    .addOption(new Option("--for <duration>", "such as 2h").makeOptionMandatory())
    .action(async (cause: string, options: ChangeOptions & { for: Duration }) => {
      const until = new Date(systemClock.now() + durationMs(options.for, "--for"));
      await withExistingMill(options.db, (mill) =>
        mill.failures.snooze(cause, { ...byOf(options), until }),
      );
      const sentence = `${cause} is snoozed until ${timeOf(until)}.\n`;
      terminal.out(options.output === "json" ? json({ cause, until }) : sentence);
      end(EXIT.success);
    });
}

function declareRetry(failures: Command, { terminal, end }: Shell): void {
  limited(changing(failures.command("retry <cause>")))
    .description("Enqueue each dead letter of a cause again, as a new, linked job.")
    .action(async (cause: string, options: LimitedOptions) => {
      const done = await withExistingMill(options.db, (mill) =>
        mill.failures.retry(cause, { ...byOf(options), ...given({ limit: options.limit }) }),
      );
      const { retried, existing, held, refused, complete } = done;
      const parts = [
        `${retried} enqueued`,
        ...(existing > 0 ? [`${existing} enqueued before`] : []),
        ...(held > 0 ? [`${held} held back by their dedup key`] : []),
        ...(refused > 0 ? [`${refused} refused`] : []),
      ];
      terminal.out(options.output === "json" ? json(done) : `${parts.join(", ")}.\n`);
      if (!complete) terminal.err(MORE);
      end(EXIT.success);
    });
}

function declareDiscard(failures: Command, { terminal, end }: Shell): void {
  limited(changing(failures.command("discard <cause>")))
    .description("Close each dead letter of a cause without a new job.")
    .action(async (cause: string, options: LimitedOptions) => {
      const done = await withExistingMill(options.db, (mill) =>
        mill.failures.discard(cause, { ...byOf(options), ...given({ limit: options.limit }) }),
      );
      terminal.out(options.output === "json" ? json(done) : `${done.discarded} discarded.\n`);
      if (!done.complete) terminal.err(MORE);
      end(EXIT.success);
    });
}

const MORE = "There are more: run the same command again.\n";

function byOf({ by: actor, notes, tenant }: ChangeOptions): {
  actor: string;
  notes?: string;
  tenant?: string;
} {
  return { actor, ...given({ notes, tenant }) };
}

function changing(command: Command): Command {
  return command
    .addOption(actorOption("the person, for the record", systemUser()))
    .option("--notes <text>", "notes, for the record")
    .option("--tenant <name>", "the dead letters of this tenant alone")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption());
}

function limited(command: Command): Command {
  return command.addOption(mostOption("dead letters", LETTERS_MAX));
}
