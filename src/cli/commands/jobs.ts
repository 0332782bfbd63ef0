/** `millrace jobs list|show|follow|logs|explain`: shows jobs. */
import type { Command } from "commander";
import type { State } from "../../core/job.ts";
import type { AttemptView, JobView, Millrace } from "../../api/client.ts";
import { plain } from "../../lib/plain-text.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { shownUrl } from "../../lib/url-password.ts";
import { systemClock } from "../../lib/system.ts";
import { EXIT, type ExitCode } from "../terminal/exit-codes.ts";
import { follow } from "../follow/follow.ts";
import { LogReader, shownMissed, type NewLines } from "../follow/log-lines.ts";
import { nearestType } from "../nearest-type.ts";
import {
  databaseOption,
  durationOption,
  limitOption,
  outputOption,
  parseStates,
  parseTag,
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
import { given, withExistingMill, type Shell } from "../shell.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { declareJobVerbs } from "./job-verbs.ts";
import { declareLogs, shownLines } from "./logs.ts";

interface JobListOptions {
  readonly db: string;
  readonly state?: readonly (State | "pending")[];
  readonly type?: string;
  readonly tenant?: string;
  readonly category?: string;
  readonly correlation?: string;
  readonly tag?: Readonly<Record<string, string>>;
  readonly limit: number;
  readonly after?: string;
  readonly output: Format;
}

interface JobShowOptions {
  readonly db: string;
  readonly output: Format;
}

export function declareJobs(program: Command, shell: Shell): void {
  const jobs = program
    .command("jobs")
    .description("Show jobs, and act on one.")
    .addHelpText("after", HELP_AFTER);
  declareList(jobs, shell);
  declareShow(jobs, shell);
  declareFollow(jobs, shell);
  declareLogs(jobs, shell, jobsAgain);
  declareExplain(jobs, shell);
  declareJobVerbs(jobs, shell);
}

const HELP_AFTER = `
Examples:
  millrace jobs list --state failed --type email
  millrace jobs list --state pending --tag campaign=autumn -o json
  millrace jobs show 01JCR5M4X2E8T9V6B3N7K0QWAZ
  millrace jobs follow 01JCR5M4X2E8T9V6B3N7K0QWAZ      follow the job to its end
  millrace jobs logs 01JCR5M4X2E8T9V6B3N7K0QWAZ        print its log lines
  millrace jobs explain 01JCR5M4X2E8T9V6B3N7K0QWAZ     explain why it does not run
`;

/** The command that follows a job again, on the same store. */
export function followAgain(id: string, command: Command): string {
  return jobsAgain(`follow ${id}`, command);
}

function jobsAgain(words: string, command: Command): string {
  const isNamed = command.getOptionValueSource("db") === "cli";
  if (!isNamed) return `millrace jobs ${words}`;
  return `millrace jobs ${words} --db ${shellWord(shownUrl(String(command.getOptionValue("db"))))}`;
}

function declareList(jobs: Command, { terminal, end }: Shell): void {
  jobs
    .command("list")
    .description("Show jobs, newest first.")
    .option(
      "--state <states>",
      "in one of these states, separated by commas; pending means scheduled or queued",
      parseStates,
    )
    .option("--type <name>", "of this type")
    .option("--tenant <name>", "of this tenant")
    .option("--category <name>", "of this category")
    .option("--correlation <id>", "with this correlation id")
    .option("--tag <name=value>", "with this tag; may be given several times", parseTag)
    .addOption(limitOption())
    .option("--after <position>", "continue where a page ended, or after the job with this id")
    .addOption(databaseOption())
    .addOption(outputOption())
    .action(async (options: JobListOptions, command: Command) => {
      const again = jobsAgain(listWords(options, command), command);
      end(await withExistingMill(options.db, (mill) => list(mill, options, again, terminal)));
    });
}

/** The words of the command that lists with the same filter. */
function listWords(options: JobListOptions, command: Command): string {
  const { state, type, tenant, category, correlation, tag = {} } = options;
  const limit = command.getOptionValueSource("limit") === "cli" ? [`--limit ${options.limit}`] : [];
  const wanted = { state: state?.join(","), type, tenant, category, correlation };
  const filters = Object.entries(wanted).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${shellWord(value)}`],
  );
  const tags = Object.entries(tag).map((each) => `--tag ${shellWord(each.join("="))}`);
  return ["list", ...filters, ...tags, ...limit].join(" ");
}

async function list(
  mill: Millrace,
  options: JobListOptions,
  again: string,
  terminal: Terminal,
): Promise<ExitCode> {
  const { state, type, tenant, category, correlation: correlationId, tag: tags } = options;
  const { limit, after, output } = options;
  const filter = given({ state, type, tenant, category, correlationId, tags, limit, after });
  const page = await mill.jobs.list(filter);
  if (output === "json") {
    terminal.out(json(page));
    return EXIT.success;
  }
  if (page.jobs.length > 0) terminal.out(tableOf(page.jobs));
  else if (!page.cutShort) await tellNone(mill, type, terminal);
  if (page.cutShort) terminal.err(CUT_SHORT);
  else if (page.next !== null) terminal.err("There are more. ");
  if (page.next !== null) terminal.err(`Continue with: ${again} --after ${page.next}\n`);
  return EXIT.success;
}

const CUT_SHORT =
  "The search was cut short at its maximum of jobs per page: matching jobs may follow. ";

async function tellNone(
  mill: Millrace,
  type: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const near = type === undefined ? null : await nearestType(mill, type);
  const advice = near === null ? "" : ` Did you mean ${plain(near)}?`;
  terminal.err(`No jobs match.${advice}\n`);
}

function tableOf(jobs: readonly JobView[]): string {
  const now = systemClock.now();
  return table(
    ["ID", "TYPE", "STATE", "ATTEMPTS", "TENANT", "AGE", "ERROR"],
    jobs.map((job) => [
      job.id,
      job.type,
      job.state,
      `${job.attempts}/${job.maxAttempts}`,
      job.tenant,
      ageOf(job.createdAt, now),
      errorOf(job.error),
    ]),
  );
}

function declareShow(jobs: Command, { terminal, end }: Shell): void {
  jobs
    .command("show <id>")
    .description("Show a job and all its runs.")
    .option("--logs", "also show its log lines")
    .addOption(databaseOption())
    .addOption(outputOption())
    .action(async (id: string, options: JobShowOptions & { logs?: boolean }) => {
      await withExistingMill(options.db, async (mill) => {
        const job = await mill.jobs.get(id);
        const attempts = await mill.jobs.attempts(id);
        const log = options.logs === true ? await new LogReader(mill.jobs, id).next() : null;
        const logs = log === null ? {} : { logs: log.lines };
        if (options.output === "json") {
          terminal.out(json({ job, attempts, ...logs }));
          return;
        }
        const sheet = shownJob(job, attempts, await waitsFor(mill, job));
        terminal.out(`${sheet}${log === null ? "" : shownLog(log)}`);
      });
      end(EXIT.success);
    });
}

function shownLog({ missed, lines }: NewLines): string {
  const gone = missed === 0 ? "" : `${shownMissed(missed)}\n`;
  return `\n${gone}${lines.length === 0 ? "No log lines.\n" : shownLines(lines)}`;
}

/** The dependencies of the job, or the job that holds its concurrency key. */
async function waitsFor(mill: Millrace, { id, state }: JobView): Promise<string | null> {
  if (state !== "scheduled" && state !== "queued") return null;
  const { reason, sentence } = await mill.jobs.explain(id);
  return reason === "after" || reason === "key" ? sentence : null;
}

function shownJob(job: JobView, attempts: readonly AttemptView[], waits: string | null): string {
  const tags = Object.entries(job.tags).map(([name, value]) => `${name}=${value}`);
  const sheet = properties([
    ["id", job.id],
    ["type", job.type],
    ["state", job.state],
    ["attempts", `${job.attempts} of ${job.maxAttempts}`],
    ["tenant", job.tenant],
    ["lane", job.lane],
    ["priority", String(job.priority)],
    ["category", job.category],
    ["created", timeOf(job.createdAt)],
    ["created by", job.createdBy],
    ["runs at", timeOf(job.runAt)],
    ["started", timeOf(job.startedAt)],
    ["finished", timeOf(job.finishedAt)],
    ["correlation", job.correlationId],
    ["parent", job.parentId],
    ["repeats", job.retryOf],
    ["idempotency key", job.idempotencyKey],
    ["dedup key", job.dedupKey],
    ["concurrency key", job.concurrencyKey],
    ["waits", waits],
    ["tags", tags.length === 0 ? null : tags.join(", ")],
    ["payload", JSON.stringify(job.payload)],
    ["damaged", job.damaged?.join(", ") ?? null],
    ["result", job.finishedAt === null ? null : JSON.stringify(job.result)],
    ["error", job.error === null ? null : `${job.error.name}: ${job.error.message}`],
    ["cancelled", job.cancelReason],
  ]);
  return attempts.length === 0 ? sheet : `${sheet}\n${shownAttempts(attempts)}`;
}

function shownAttempts(attempts: readonly AttemptView[]): string {
  return table(
    ["RUN", "OUTCOME", "STARTED", "FINISHED", "WORKER", "ERROR"],
    attempts.map((attempt) => [
      String(attempt.number),
      attempt.outcome,
      timeOf(attempt.startedAt) ?? "",
      attempt.finishedAt.toISOString(),
      attempt.worker ?? "",
      errorOf(attempt.error),
    ]),
  );
}

function declareFollow(jobs: Command, { terminal, end }: Shell): void {
  jobs
    .command("follow <id>")
    .description("Wait for the end of a job: changes to stderr, the result to stdout.")
    .addOption(durationOption("--timeout <time>", "how long to wait"))
    .addOption(databaseOption())
    .addOption(outputOption("ndjson"))
    .addHelpText("after", FOLLOW_HELP_AFTER)
    .action(
      async (id: string, options: JobShowOptions & { timeout?: number }, command: Command) => {
        const { output: format, timeout: timeoutMs } = options;
        const again = followAgain(id, command);
        end(
          await withExistingMill(options.db, (mill) =>
            follow(mill, id, { format, timeoutMs, again }, terminal),
          ),
        );
      },
    );
}

/** The help of `jobs follow` and of `enqueue --follow`. */
export const FOLLOW_HELP_AFTER = `
A terminal shows phases, units, rate, remaining time and the last log line, and updates them.
Without a terminal, every change is printed as a line. With -o json the result is the whole job;
with -o ndjson every change is a line on stdout. NO_COLOR=1 disables colours.

Exit codes: 0 completed, 1 failed or removed, 3 completed with errors, 4 cancelled,
124 not final after --timeout, 130 detached by Ctrl-C (the job continues).
`;

function declareExplain(jobs: Command, { terminal, end }: Shell): void {
  jobs
    .command("explain <id>")
    .description("Explain why a job does not run, and what to do.")
    .addOption(databaseOption())
    .addOption(outputOption())
    .action(async (id: string, options: JobShowOptions) => {
      await withExistingMill(options.db, async (mill) => {
        const explanation = await mill.jobs.explain(id);
        const { sentence, hint } = explanation;
        const text = `${plain(sentence)}\n${plain(hint)}\n`;
        terminal.out(options.output === "json" ? json(explanation) : text);
      });
      end(EXIT.success);
    });
}
