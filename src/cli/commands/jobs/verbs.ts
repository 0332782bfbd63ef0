/** `millrace jobs cancel|retry|fail|release`: acts on one job. */
import type { Command } from "commander";
import type { JobView } from "../../../api/client.ts";
import type { OperatorMill } from "../../operator-mill.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { databaseOption, serverOption, outputOption } from "../../terminal/options.ts";
import { json, type Format } from "../../terminal/output.ts";
import { withChangedJob, type Shell } from "../../shell.ts";

interface JobVerbOptions {
  readonly db: string;
  readonly output: Format;
}

/** The result of a verb: as JSON, and as a sentence. */
interface Answer {
  readonly facts: object;
  readonly sentence: string;
}

type JobVerb<Given extends JobVerbOptions> = (
  mill: OperatorMill,
  id: string,
  options: Given,
) => Promise<Answer>;

export function declareJobVerbs(jobs: Command, shell: Shell): void {
  declare(jobs, shell, "cancel", cancel)
    .description("Cancel a waiting job, or ask a running job to stop.")
    .option("--reason <text>", "the reason, for the record");
  declare(jobs, shell, "retry", retry)
    .description("Run a waiting job now; repeat a finished job as a new, linked job.")
    .option("--restart", "repeat also the completed phases and units");
  declare(jobs, shell, "fail", fail)
    .description("End a job as failed, with a dead letter.")
    .option("--message <text>", "the error message, for the record", "failed by hand")
    .option("--retry", "count a failed attempt, and retry the job if any attempt is left");
  declare(jobs, shell, "release", release)
    .description("Take a job away from a dead or stuck worker and queue it again, uncharged.")
    .option("--force", "also from a worker whose lease is alive");
}

function declare<Given extends JobVerbOptions>(
  jobs: Command,
  { terminal, end }: Shell,
  name: string,
  verb: JobVerb<Given>,
): Command {
  return jobs
    .command(`${name} <id>`)
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async (id: string, options: Given) => {
      const { facts, sentence } = await withChangedJob(options.db, id, (mill, job) =>
        verb(mill, job, options),
      );
      terminal.out(options.output === "json" ? json(facts) : `${sentence}\n`);
      end(EXIT.success);
    });
}

async function cancel(
  mill: OperatorMill,
  id: string,
  { reason }: JobVerbOptions & { readonly reason?: string },
): Promise<Answer> {
  const job = await mill.jobs.cancel(id, reason);
  if (job.state === "cancelled") return now(job);
  return { facts: job, sentence: `${job.id} is ${job.state} and has been asked to stop.` };
}

async function retry(
  mill: OperatorMill,
  id: string,
  { restart }: JobVerbOptions & { readonly restart?: boolean },
): Promise<Answer> {
  const before = await mill.jobs.get(id);
  const job = await mill.jobs.retry(id, { restart: restart === true });
  if (job.id === before.id) return { facts: job, sentence: `${job.id} is ${job.state}.` };
  const verb = job.created ? "repeats" : "repeats already";
  return { facts: job, sentence: `${job.id} ${verb} ${before.id}.` };
}

async function fail(
  mill: OperatorMill,
  id: string,
  options: JobVerbOptions & { readonly message: string; readonly retry?: boolean },
): Promise<Answer> {
  return now(await mill.jobs.fail(id, options.message, { retry: options.retry === true }));
}

async function release(
  mill: OperatorMill,
  id: string,
  { force }: JobVerbOptions & { readonly force?: boolean },
): Promise<Answer> {
  return now(await mill.jobs.release(id, { force: force === true }));
}

function now(job: JobView): Answer {
  return { facts: job, sentence: `${job.id} is ${job.state}.` };
}
