/** `millrace jobs list`: shows jobs, newest first. */
import type { Command } from "commander";
import type { JobView } from "../../../api/client.ts";
import type { OperatorMill } from "../../operator-mill.ts";
import { plain } from "../../../lib/plain-text.ts";
import { shellWord } from "../../../lib/shell-word.ts";
import { systemClock } from "../../../lib/system.ts";
import { EXIT, type ExitCode } from "../../terminal/exit-codes.ts";
import { jobIdOf } from "../../job-id.ts";
import { nearestType } from "../../nearest-type.ts";
import { databaseOption, limitOption, outputOption, serverOption } from "../../terminal/options.ts";
import { ageOf, attemptNow, errorOf, json, table, type Format } from "../../terminal/output.ts";
import { given, withExistingMill, type Shell } from "../../shell.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import {
  checkRange,
  jobFilterOf,
  withJobFilter,
  type JobFilterOptions,
} from "../bulk/job-filter.ts";
import { jobsAgain } from "./again.ts";

interface JobListOptions extends JobFilterOptions {
  readonly db: string;
  readonly limit: number;
  readonly after?: string;
  readonly output: Format;
}

export function declareList(jobs: Command, { terminal, end }: Shell): void {
  withJobFilter(jobs.command("list"))
    .description("Show jobs, newest first.")
    .addOption(limitOption())
    .option("--after <position>", "continue where a page ended, or after the job with this id")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async (options: JobListOptions, command: Command) => {
      checkRange(options);
      const again = jobsAgain(listWords(options, command), command);
      end(await withExistingMill(options.db, (mill) => list(mill, options, again, terminal)));
    });
}

/** The words of the command that lists with the same filter. */
function listWords(options: JobListOptions, command: Command): string {
  const { state, type, tenant, category, correlation, parent, tag = {}, since, until } = options;
  const limit = command.getOptionValueSource("limit") === "cli" ? [`--limit ${options.limit}`] : [];
  const { lane, error, text, payload = {} } = options;
  const names = { state: state?.join(","), type, tenant, category, correlation, parent };
  const content = { lane, error, text };
  // A time and not a duration: the pages of a list have the same range.
  const times = { since: since?.toISOString(), until: until?.toISOString() };
  const { runningLongerThan: ms } = options;
  const running = ms === undefined ? undefined : `${ms}ms`;
  const wanted = { ...names, ...content, ...times, "running-longer-than": running };
  const filters = Object.entries(wanted).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${shellWord(value)}`],
  );
  const tags = Object.entries(tag).map((each) => `--tag ${shellWord(each.join("="))}`);
  const paths = Object.entries(payload).map((each) => `--payload ${shellWord(each.join("="))}`);
  return ["list", ...filters, ...tags, ...paths, ...limit].join(" ");
}

async function list(
  mill: OperatorMill,
  options: JobListOptions,
  again: string,
  terminal: Terminal,
): Promise<ExitCode> {
  const { type, limit, after, output } = options;
  const from = after === undefined ? undefined : await jobIdOf(mill, after);
  const filter = { ...(await jobFilterOf(mill, options)), ...given({ limit, after: from }) };
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
  mill: OperatorMill,
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
      `${attemptNow(job)}/${job.maxAttempts}`,
      job.tenant,
      ageOf(job.createdAt, now),
      errorOf(job.error),
    ]),
  );
}
