/** `millrace dlq`: reviews dead letters. */
import { Option, type Command } from "commander";
import type { Json } from "../../core/payload.ts";
import type { DeadLetter } from "../../api/client.ts";
import type { DeadLetterStats, NamedCount } from "../../api/control/letters.ts";
import type { OperatorMill } from "../operator-mill.ts";
import { systemClock } from "../../lib/system.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import {
  actorOption,
  databaseOption,
  serverOption,
  limitOption,
  outputOption,
  parseJson,
} from "../terminal/options.ts";
import {
  ageOf,
  errorOf,
  json,
  properties,
  table,
  timeOf,
  type Format,
} from "../terminal/output.ts";
import type { DeadLetterBulkAction } from "../../api/control/operations.ts";
import {
  LETTER_FILTERS,
  letterFilterOf,
  withLetterFilter,
  type LetterFilterOptions,
} from "./bulk/letter-filter.ts";
import { isBulk, runBulk, withBulkOptions, type BulkOptions } from "./bulk/run.ts";
import { shownLetter } from "./control/shown-letter.ts";
import { jobIdOf } from "../job-id.ts";
import {
  given,
  systemUser,
  withExistingMill,
  withChangedJob,
  withJob,
  type Shell,
} from "../shell.ts";

interface DeadLetterListOptions extends LetterFilterOptions {
  readonly db: string;
  readonly limit: number;
  readonly after?: string;
  readonly output: Format;
}

interface ReviewOptions {
  readonly db: string;
  readonly by: string;
  readonly notes?: string;
  readonly output: Format;
}

export function declareDeadLetters(program: Command, shell: Shell): void {
  const letters = program
    .command("dlq")
    .description("Review dead letters: the records of failed jobs.")
    .addHelpText("after", HELP_AFTER);
  declareList(letters, shell);
  declareStats(letters, shell);
  declareShow(letters, shell);
  declareReprocess(letters, shell);
  declareReview(letters, shell, "acknowledge", "Mark a dead letter as seen.");
  declareAssign(letters, shell);
  declareNote(letters, shell);
  declareReview(letters, shell, "discard", "Close a dead letter without a new job.");
}

const HELP_AFTER = `
A dead letter has the id of its job. An ID may be shortened to its first letters, at least four, if
no other id begins with them. Commands that change a dead letter (reprocess, acknowledge, assign,
note, discard) need at least twelve.

Examples:
  millrace dlq list --status pending_review
  millrace dlq reprocess 01JCR5M4X2E8T9V6B3N7K0QWAZ --notes "the bank is back"
  millrace dlq reprocess 01JCR5M4X2E8T9V6B3N7K0QWAZ --payload '{"to":"ada@example.com"}'
`;

function declareList(letters: Command, { terminal, end }: Shell): void {
  withLetterFilter(letters.command("list"))
    .description("Show dead letters, newest first.")
    .addOption(limitOption())
    .option("--after <id>", "continue after this dead letter")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async (options: DeadLetterListOptions) => {
      const { db, output, limit, after: from } = options;
      const found = await withExistingMill(db, async (mill) => {
        const after = from === undefined ? undefined : await jobIdOf(mill, from);
        return mill.deadLetters.list({ ...letterFilterOf(options), ...given({ limit, after }) });
      });
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(tableOf(found));
      else terminal.err("No dead letters match.\n");
      const last = found.length === limit ? found.at(-1) : undefined;
      if (last !== undefined) terminal.err(`There may be more: add --after ${last.id}\n`);
      end(EXIT.success);
    });
}

function declareStats(letters: Command, { terminal, end }: Shell): void {
  letters
    .command("stats")
    .description("Count dead letters by status, category, type and class of error.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async ({ db, output }: { db: string; output: Format }) => {
      const stats = await withExistingMill(db, (mill) => mill.deadLetters.stats());
      terminal.out(output === "json" ? json(stats) : shownStats(stats));
      end(EXIT.success);
    });
}

function shownStats(stats: DeadLetterStats): string {
  const { count, atLeast, byStatus, byCategory, byType, byErrorClass } = stats;
  const sheet = properties([
    ["dead letters", `${atLeast ? "at least " : ""}${count}`],
    ["last 24 hours", String(stats.last24Hours)],
    ["oldest", timeOf(stats.oldestAt)],
    ["oldest pending", timeOf(stats.oldestPendingAt)],
  ]);
  const rows = [
    ...Object.entries(byStatus).map(([name, number]) => ["status", name, String(number)]),
    ...rowsOf("category", byCategory),
    ...rowsOf("type", byType),
    ...rowsOf("error class", byErrorClass),
  ];
  return `${sheet}\n${table(["BY", "NAME", "COUNT"], rows)}`;
}

function rowsOf(by: string, counts: readonly NamedCount[]): string[][] {
  return counts.map(({ name, count }) => [by, name ?? "-", String(count)]);
}

function tableOf(letters: readonly DeadLetter[]): string {
  const now = systemClock.now();
  return table(
    ["ID", "TYPE", "STATUS", "ATTEMPTS", "TENANT", "AGE", "ERROR"],
    letters.map((letter) => [
      letter.id,
      letter.type,
      letter.status,
      String(letter.attempts),
      letter.tenant,
      ageOf(letter.diedAt, now),
      errorOf(letter.error),
    ]),
  );
}

function declareShow(letters: Command, { terminal, end }: Shell): void {
  letters
    .command("show <id>")
    .description("Show a dead letter with its error and payload.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async (text: string, { db, output }: { db: string; output: Format }) => {
      const letter = await withJob(db, text, (mill, id) => mill.deadLetters.get(id));
      terminal.out(output === "json" ? json(letter) : shownLetter(letter));
      end(EXIT.success);
    });
}

type ReprocessOptions = ManyOptions & { readonly payload?: Json };

function declareReprocess(letters: Command, shell: Shell): void {
  const { terminal, end } = shell;
  many(reviewing(letters.command("reprocess [id]")))
    .description("Enqueue the job again as a new, linked job, with another payload if given.")
    .addOption(new Option("--payload <json>", "payload of the new job").argParser(parseJson))
    .action(async (id: string | undefined, options: ReprocessOptions, command: Command) => {
      const { by: actor, notes, payload } = options;
      const text = await oneLetter("reprocess", id, options, command, shell);
      if (text === null) return;
      const job = await withChangedJob(options.db, text, (mill, letter) =>
        mill.deadLetters.reprocess(letter, { actor, ...given({ notes, payload }) }),
      );
      const verb = job.created ? "is enqueued in its place" : "was enqueued in its place before";
      terminal.out(options.output === "json" ? json(job) : `${job.id} ${verb}.\n`);
      end(EXIT.success);
    });
}

function declareReview(
  letters: Command,
  shell: Shell,
  verb: "acknowledge" | "discard",
  description: string,
): void {
  const { terminal, end } = shell;
  many(reviewing(letters.command(`${verb} [id]`)))
    .description(description)
    .action(async (id: string | undefined, options: ManyOptions, command: Command) => {
      const text = await oneLetter(verb, id, options, command, shell);
      if (text === null) return;
      const letter = await withChangedJob(options.db, text, (mill, found) =>
        review(mill, verb, found, options),
      );
      const sentence = `${letter.id} is ${letter.status}.\n`;
      terminal.out(options.output === "json" ? json(letter) : sentence);
      end(EXIT.success);
    });
}

interface ManyOptions extends ReviewOptions, BulkOptions, LetterFilterOptions {}

/** Adds the options of a command that takes an id, or `--where` with a filter. */
function many(command: Command): Command {
  return withLetterFilter(withBulkOptions(command));
}

/** The id of one letter. Null: the action was about many, and has ended. */
async function oneLetter(
  action: DeadLetterBulkAction["action"],
  id: string | undefined,
  options: ManyOptions & { readonly payload?: unknown },
  command: Command,
  { terminal, end }: Shell,
): Promise<string | null> {
  if (!isBulk(id, options, LETTER_FILTERS, command)) return id ?? "";
  if (options.payload !== undefined) command.error("error: --payload goes with an id");
  const { by: actor, notes: reason } = options;
  const deadLetters = letterFilterOf(options);
  const code = await withExistingMill(options.db, (mill) =>
    runBulk(mill, { action, deadLetters }, { actor, reason }, options, terminal),
  );
  end(code);
  return null;
}

function declareAssign(letters: Command, { terminal, end }: Shell): void {
  reviewing(letters.command("assign <id>"))
    .description("Assign a dead letter to a person, or without --to to no person.")
    .option("--to <name>", "the person")
    .action(async (text: string, options: ReviewOptions & { to?: string }) => {
      const { by: actor, to = null, notes } = options;
      const letter = await withChangedJob(options.db, text, async (mill, id) => {
        await mill.deadLetters.assign(id, { actor, to, ...given({ notes }) });
        return mill.deadLetters.get(id);
      });
      const sentence = `${letter.id} is assigned to ${to ?? "no person"}.\n`;
      terminal.out(options.output === "json" ? json(letter) : sentence);
      end(EXIT.success);
    });
}

function declareNote(letters: Command, { terminal, end }: Shell): void {
  reviewing(letters.command("note <id>"))
    .description("Add notes to a dead letter.")
    .action(async (text: string, options: ReviewOptions) => {
      const { by: actor, notes = "" } = options;
      const letter = await withChangedJob(options.db, text, async (mill, id) => {
        await mill.deadLetters.note(id, { actor, notes });
        return mill.deadLetters.get(id);
      });
      terminal.out(options.output === "json" ? json(letter) : `${letter.id} has the notes.\n`);
      end(EXIT.success);
    });
}

async function review(
  mill: OperatorMill,
  verb: "acknowledge" | "discard",
  id: string,
  { by: actor, notes }: ReviewOptions,
): Promise<DeadLetter> {
  await mill.deadLetters[verb](id, { actor, ...given({ notes }) });
  return mill.deadLetters.get(id);
}

function reviewing(command: Command): Command {
  return command
    .addOption(actorOption("the reviewer, for the record", systemUser()))
    .option("--notes <text>", "notes, for the record")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption());
}
